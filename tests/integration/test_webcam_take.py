"""A network camera, from its HTTP stream to the committed episode."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from episodes.reader import open_task
from flows.session import Session, SessionOptions
from rigs import load_rig
from sources.virtual.counter import read_counter
from tests.mjpeg_server import Stream, jpeg, mjpeg_camera, numbered
from tests.session_bench import deep_findings


def record(root: Path, stream: Stream, seconds: float) -> Path:
    options = SessionOptions(disk_reserve=1, disk_warning=1, app_version="0.0.0")
    with mjpeg_camera(stream) as url:
        rig = load_rig("webcam", {"source": url, "video_codec": "libx264"})
        with Session(rig, root, "webcam", options=options) as session:
            session.start(seconds=seconds)
            session.wait(60)
            session.stop()
    assert deep_findings(session.task_dir) == []
    return session.task_dir


def counters(task_dir: Path) -> list[int]:
    with open_task(task_dir).episode(0).video("webcam_rgb") as video:
        read = [read_counter(picture) for picture in video]
    found = [counter for counter in read if counter is not None]
    assert len(found) == len(read)
    return found


def test_each_picture_of_a_network_camera_has_a_row_or_is_counted(tmp_path: Path) -> None:
    task_dir = record(tmp_path, lambda _connection, stop: numbered(25.0)(stop), 2.0)
    steps = np.diff(counters(task_dir))
    drops = open_task(task_dir).episode(0).drop_stats
    assert (steps >= 0).all()
    assert np.count_nonzero(steps == 0) == drops.get("webcam_rgb_repeat_count", 0)
    assert int((steps[steps > 0] - 1).sum()) == drops.get("ext:webcam_rgb", 0)


def test_a_stream_that_breaks_is_opened_again_and_the_rows_go_on(tmp_path: Path) -> None:
    def breaking(connection: int, stop: threading.Event) -> Iterator[bytes]:
        yield from numbered(30.0, count=60, first=1000 * connection)(stop)

    task_dir = record(tmp_path, breaking, 4.0)
    read = counters(task_dir)
    assert len(read) + open_task(task_dir).episode(0).drop_stats.get("tick_skip_count", 0) == 120
    assert len({counter // 1000 for counter in read}) >= 2
    assert read == sorted(read)


def test_a_picture_of_another_size_gets_no_row_and_is_counted(tmp_path: Path) -> None:
    def odd(_connection: int, stop: threading.Event) -> Iterator[bytes]:
        for number, part in enumerate(numbered(30.0)(stop)):
            yield jpeg(number, (480, 640)) if number % 10 == 9 else part

    task_dir = record(tmp_path, odd, 2.0)
    assert [counter for counter in counters(task_dir) if counter % 10 == 9] == []
    drops = open_task(task_dir).episode(0).drop_stats
    assert drops.get("webcam_rgb_repeat_count", 0) + drops.get("ext:webcam_rgb", 0) > 0


def test_user_and_password_of_the_url_stand_nowhere_in_the_task(tmp_path: Path) -> None:
    task_dir = record(tmp_path, lambda _connection, stop: numbered(30.0)(stop), 0.5)
    info = json.loads((task_dir / "meta" / "info.json").read_text())
    assert info["devices"][0]["key"].startswith("camera:http://127.0.0.1:")
    for path in task_dir.rglob("*"):
        if path.is_file():
            assert b"secret" not in path.read_bytes()
