from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from episodes.errors import ContractError, EpisodeError
from episodes.staging import read_manifest
from episodes.video import VideoReader
from operators.events import Frame
from operators.oldest_frame import TickFrame
from operators.rows import Row
from sinks.commit import commit_staging
from sinks.journal import JournalFile
from sinks.pictures import av_frame
from sinks.take_writer import TakeWriter
from tests import small_takes


def test_what_was_written_is_what_is_read(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 33)
    committed = commit_staging(paths, staging)
    assert committed.rows == 33
    assert committed.cut == {}
    with VideoReader(paths.videos(committed.number)["side_rgb"], kind="rgb") as video:
        shown = [small_takes.number_of(image) for image in video]
    assert shown == [index - 1 if index % 3 == 2 else index for index in range(33)]
    with VideoReader(paths.videos(committed.number)["head_depth"], kind="depth") as video:
        depth = [int(image[0, 0]) for image in video]
    assert depth == [500 + (index - 1 if index % 3 == 2 else index) for index in range(33)]


def test_a_full_queue_refuses_the_whole_row(tmp_path: Path) -> None:
    paths, staging, writer = small_takes.start(tmp_path, blocking=False)
    taken = 0
    while writer.write(small_takes.row(taken)):
        taken += 1
    assert writer.last_row == taken - 1
    writer.close()
    committed = commit_staging(paths, staging)
    assert committed.rows == taken, "no file may have had a part of the refused row"
    assert committed.cut == {}
    assert committed.warnings == ()


def test_a_picture_of_another_size_is_refused_and_the_take_stays_whole(tmp_path: Path) -> None:
    paths, staging, writer = small_takes.start(tmp_path)
    for index in range(5):
        assert writer.write(small_takes.row(index))
    row = small_takes.row(5)
    wrong = TickFrame(Frame(np.zeros((96, 96, 3), np.uint8), "rgb24", 1), repeated=False)
    with pytest.raises(ContractError, match="side_rgb"):
        writer.write(Row(row.tick, (row.values[0], row.values[1], wrong, *row.values[3:])))
    assert writer.write(row)
    writer.close()
    committed = commit_staging(paths, staging)
    assert (committed.rows, committed.cut) == (6, {})


class Failure:
    """What ``on_failure`` was told, and when."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.came = threading.Event()

    def __call__(self, message: str) -> None:
        self.told.append(message)
        self.came.set()


def test_an_encoder_that_fails_is_told_and_the_take_is_cut_to_what_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[int] = []

    def failing(image: Any, pix_fmt: str, stored: str) -> Any:
        if threading.current_thread().name == "video-side_rgb":
            encoded.append(1)
            if len(encoded) > 10:
                raise OSError("the encoder broke")
        return av_frame(image, pix_fmt, stored)

    monkeypatch.setattr("sinks.video_writer.av_frame", failing)
    failure = Failure()
    paths, staging, writer = small_takes.start(tmp_path, on_failure=failure)
    for index in range(11):
        assert writer.write(small_takes.row(index))
    assert failure.came.wait(10)
    assert not writer.write(small_takes.row(11)), "a take must not go on without one of its videos"
    writer.close()
    assert len(failure.told) == 1
    assert "side_rgb" in failure.told[0]
    committed = commit_staging(paths, staging)
    assert committed.rows == 10
    assert committed.cut == {"head_rgb": 1, "head_depth": 1, "side_rgb": 1}
    assert committed.cut_rows == 1
    assert committed.drop_stats["cut:side_rgb"] == 1
    assert committed.drop_stats["cut_row_count"] == 1
    assert "side_rgb has 10 of 11" in committed.warnings[0]
    assert pq.read_metadata(committed.data_path).num_rows == 10
    with VideoReader(paths.videos(committed.number)["head_rgb"], kind="rgb") as video:
        assert len(video) == 10


def test_a_journal_that_cannot_be_written_ends_the_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_self: JournalFile, _rows: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(JournalFile, "append", full)
    failure = Failure()
    _paths, _staging, writer = small_takes.start(tmp_path, small_takes.LIGHT, on_failure=failure)
    assert writer.write(small_takes.row(0, small_takes.LIGHT))
    assert failure.came.wait(10)
    assert not writer.write(small_takes.row(1, small_takes.LIGHT))
    writer.close()
    assert failure.told == ["the journal cannot be written: [Errno 28] No space left on device"]


def test_a_row_without_a_frame_is_refused_by_name(tmp_path: Path) -> None:
    _paths, _staging, writer = small_takes.start(tmp_path, small_takes.LIGHT)
    row = small_takes.row(0, small_takes.LIGHT)
    with pytest.raises(ContractError, match="side_rgb: row 0 has no frame"):
        writer.write(replace(row, values=(None, *row.values[1:])))
    writer.abort()


def test_a_folder_that_is_not_reserved_is_refused(tmp_path: Path) -> None:
    streams = small_takes.LIGHT
    _paths, staging, writer = small_takes.start(tmp_path, streams)
    writer.close()
    for folder in (staging, tmp_path):
        with pytest.raises(EpisodeError, match="not reserved"):
            TakeWriter(
                folder,
                small_takes.declaration(streams),
                small_takes.plan(streams),
                small_takes.CLOCK,
                frame_sizes=small_takes.SIZES,
            )


def test_the_manifest_has_all_that_a_rebuild_needs_from_the_first_row_on(tmp_path: Path) -> None:
    _paths, staging, writer = small_takes.start(tmp_path)
    manifest = read_manifest(staging)
    assert manifest is not None
    assert manifest.clock == small_takes.CLOCK
    assert manifest.sizes == small_takes.SIZES
    assert manifest.extensions == {"head_rgb": "mp4", "head_depth": "mkv", "side_rgb": "mp4"}
    assert manifest.declaration == small_takes.declaration()
    assert manifest.video_codec["encoder"] == "libx264"
    writer.abort()


def test_encoders_are_shown_live(tmp_path: Path) -> None:
    _paths, _staging, writer = small_takes.start(tmp_path)
    for index in range(5):
        writer.write(small_takes.row(index))
    live = writer.live()
    assert list(live) == ["head_rgb", "head_depth", "side_rgb"]
    assert all(0 <= slot.load <= 1 and 0 <= slot.waiting <= slot.bound == 15 for slot in live.values())
    writer.close()
    writer.close()


def test_no_row_is_taken_after_the_close(tmp_path: Path) -> None:
    _paths, _staging, writer = small_takes.start(tmp_path, small_takes.LIGHT)
    writer.close()
    assert not writer.write(small_takes.row(0, small_takes.LIGHT))
