"""Cameras over their real wires: MJPEG over HTTP, and a video file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest

import sources.camera
from operators.errors import DeviceError
from sources.camera import camera
from sources.virtual.counter import read_counter
from tests.mjpeg_server import jpeg, mjpeg_camera, numbered
from tests.shared_data import shared_data
from tests.source_events import Listener

KEY = "camera:test"


def test_every_picture_of_an_mjpeg_stream_comes_once_and_in_order() -> None:
    with (
        mjpeg_camera(lambda _connection, stop: numbered(60.0)(stop)) as url,
        Listener(camera(url, key=KEY)) as heard,
    ):
        heard.until_count(40)
    frames = heard.frames("image")
    counters = [read_counter(frame.image) for frame in frames]
    assert counters[0] is not None
    assert counters == list(range(counters[0], counters[0] + len(frames)))
    assert [frame.seq for frame in frames] == list(range(len(frames)))
    assert {frame.pix_fmt for frame in frames} == {"yuv420p"}
    stamps = [frame.host_ns for frame in frames]
    assert stamps == sorted(set(stamps))


def test_the_grey_of_an_mjpeg_picture_is_the_grey_that_was_sent() -> None:
    with (
        mjpeg_camera(lambda _connection, stop: numbered(60.0)(stop)) as url,
        Listener(camera(url, key=KEY)) as heard,
    ):
        heard.until_count(1)
    picture = av.VideoFrame.from_ndarray(heard.frames("image")[0].image, format="yuv420p")
    grey = picture.to_ndarray(format="rgb24")[100:200].astype(np.int64)
    assert np.abs(grey - 90).max() <= 4


def test_a_stream_that_ends_is_a_failure_and_the_next_subscription_opens_it_anew() -> None:
    with mjpeg_camera(lambda connection, stop: numbered(60.0, count=10, first=100 * connection)(stop)) as url:
        source = camera(url, key=KEY)
        for connection in range(2):
            with Listener(source) as heard:
                heard.until_end()
            assert isinstance(heard.error, DeviceError)
            assert str(heard.error).startswith(f"{KEY}: ")
            assert "secret" not in str(heard.error)
            last = read_counter(heard.frames("image")[-1].image)
            assert last is not None
            assert last // 100 == connection


def test_a_camera_that_goes_silent_fails_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.camera, "READ_TIMEOUT_S", 0.5)

    def parts(_connection: int, stop: threading.Event) -> Iterator[bytes]:
        yield from numbered(60.0, count=10)(stop)
        stop.wait()

    with mjpeg_camera(parts) as url, Listener(camera(url, key=KEY)) as heard:
        heard.until_end()
    assert str(heard.error) == f"{KEY}: it failed: nothing came within 0.5 s"


def test_a_camera_that_never_answers_fails_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.camera, "OPEN_TIMEOUT_S", 0.5)
    monkeypatch.setattr(sources.camera, "READ_TIMEOUT_S", 0.5)

    def nothing(_connection: int, stop: threading.Event) -> Iterator[bytes]:
        stop.wait()
        return iter(())

    with mjpeg_camera(nothing) as url, Listener(camera(url, key=KEY)) as heard:
        heard.until_end()
    assert isinstance(heard.error, DeviceError)


def test_garbage_between_the_pictures_is_left_out() -> None:
    def parts(_connection: int, stop: threading.Event) -> Iterator[bytes]:
        for number, part in enumerate(numbered(60.0)(stop)):
            yield part[: len(part) // 3] if number == 15 else b"\x00garbage\xff" if number == 20 else part

    with mjpeg_camera(parts) as url, Listener(camera(url, key=KEY)) as heard:
        heard.until(lambda listener: any(read_counter(f.image) == 30 for f in listener.frames("image")[-1:]))
    assert heard.error is None
    counters = [read_counter(frame.image) for frame in heard.frames("image")]
    assert {14, 16, 19, 21, 30} <= set(counters)


def test_a_picture_of_another_size_comes_as_it_is() -> None:
    def parts(_connection: int, stop: threading.Event) -> Iterator[bytes]:
        yield from numbered(60.0, count=20)(stop)
        while not stop.wait(0.02):
            yield jpeg(500, (480, 640))

    with mjpeg_camera(parts) as url, Listener(camera(url, key=KEY)) as heard:
        heard.until(lambda listener: any(f.image.shape[1] == 640 for f in listener.frames("image")[-1:]))
    assert heard.error is None
    assert {frame.image.shape for frame in heard.frames("image")} == {(360, 320), (720, 640)}
    assert read_counter(heard.frames("image")[-1].image) == 500


def test_disposing_a_streaming_camera_ends_its_thread() -> None:
    with mjpeg_camera(lambda _connection, stop: numbered(60.0)(stop)) as url:
        with Listener(camera(url, key="camera:closing")) as heard:
            heard.until_count(3)
        assert not [thread for thread in threading.enumerate() if thread.name == "camera:closing"]


def test_a_file_is_played_whole_at_its_own_rate() -> None:
    path = shared_data("video", "bikes.mp4")
    with av.open(str(path)) as container:
        expected = [frame.to_ndarray() for frame in container.decode(video=0)]
    with Listener(camera(str(path), key=KEY, fps=250.0)) as heard:
        heard.until_end()
    assert heard.completed
    frames = heard.frames("image")
    assert len(frames) == len(expected) == 250
    for frame, picture in zip(frames, expected, strict=True):
        assert np.array_equal(frame.image, picture)
    assert [frame.device_ns for frame in frames] == [number * 40_000_000 for number in range(250)]


def test_no_picture_of_a_file_comes_before_its_time() -> None:
    path = shared_data("video", "bikes.mp4")
    with Listener(camera(str(path), key=KEY)) as heard:
        heard.until_count(12)
    stamps = [frame.host_ns for frame in heard.frames("image")]
    assert [stamp - stamps[0] >= 40_000_000 * n - 20_000_000 for n, stamp in enumerate(stamps)] == [True] * len(stamps)


def test_a_damaged_file_is_played_as_far_as_it_goes_and_not_again(tmp_path: Path) -> None:
    data = bytearray(shared_data("video", "bikes.mp4").read_bytes())
    middle = len(data) // 2
    data[middle : middle + 20_000] = b"\xff" * 20_000
    path = tmp_path / "damaged.mp4"
    path.write_bytes(data)
    with Listener(camera(str(path), key=KEY, fps=1000.0)) as heard:
        heard.until_end()
    assert heard.completed
    assert 100 <= len(heard.frames("image")) <= 250


def test_a_file_that_was_cut_completes_or_fails_by_name(tmp_path: Path) -> None:
    data = shared_data("video", "bikes.mp4").read_bytes()
    path = tmp_path / "cut.mp4"
    path.write_bytes(data[: len(data) // 2])
    with Listener(camera(str(path), key="camera:cut.mp4", fps=1000.0)) as heard:
        heard.until_end()
    frames = heard.frames("image")
    assert len(frames) < 250
    if heard.error is None:
        assert len(frames) > 50
    else:
        assert str(heard.error).startswith("camera:cut.mp4: ")
        assert frames == []
