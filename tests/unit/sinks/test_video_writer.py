from __future__ import annotations

import threading
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import av
import av.container
import av.video
import msgspec
import numpy as np
import pytest

from episodes.errors import ContractError
from episodes.video import VideoReader, probe
from operators.events import Frame
from sinks import pictures, video_writer
from sinks.video_settings import DEPTH_CODECS, VIDEO_CODECS, VideoSettings
from sinks.video_writer import VideoWriteError, VideoWriter
from tests.numbered_pictures import colour_frame, depth_frame, depth_of, picture_of, read_number

COLOUR = [name for name in VIDEO_CODECS if name != "hevc_nvenc"]
H264, FFV1 = VIDEO_CODECS["libx264"], DEPTH_CODECS["ffv1"]


def _writer(
    path: Path, settings: VideoSettings = H264, *, fps: float | Fraction = 30, blocking: bool = True, bound: int = 8
) -> VideoWriter:
    return VideoWriter(path, "slot", settings, fps, 64, 96, queue_bound=bound, blocking=blocking)


def _write(path: Path, settings: VideoSettings, count: int, *, fps: float | Fraction = 30) -> VideoWriter:
    writer = _writer(path, settings, fps=fps)
    for i in range(count):
        assert writer.write(depth_frame(i) if settings.pix_fmt.startswith("gray") else colour_frame(i))
    return writer


class _Gate:
    """Holds the writer's thread at its next frame until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        self.reached = threading.Event()
        real = pictures.av_frame

        def av_frame(image: np.ndarray, pix_fmt: str, stored: str) -> av.VideoFrame:
            self.reached.set()
            assert self.open.wait(60)
            return real(image, pix_fmt, stored)

        monkeypatch.setattr("sinks.video_writer.av_frame", av_frame)


@pytest.mark.parametrize(
    "fps", [30, 25, 30.84, 40, Fraction(30000, 1001), 30000 / 1001, 29.97, Fraction(15, 2)], ids=str
)
@pytest.mark.parametrize("name", COLOUR)
def test_frame_i_stands_at_i_over_fps_exactly(tmp_path: Path, name: str, fps: float | Fraction) -> None:
    path = tmp_path / "slot.mp4"
    assert _write(path, VIDEO_CODECS[name], 50, fps=fps).close().error is None
    info, rate = probe(path), Fraction(fps).limit_denominator(100_000)
    assert [int(pts) * info.time_base for pts in info.pts] == [i / rate for i in range(50)]
    assert info.first_off_grid(fps) is None


def test_frames_of_matroska_stand_at_the_nearest_millisecond(tmp_path: Path) -> None:
    path = tmp_path / "slot.mkv"
    assert _write(path, FFV1, 50).close().error is None
    assert probe(path, "depth").pts.tolist() == [round(1000 * i / 30) for i in range(50)]


@pytest.mark.parametrize("name", COLOUR)
def test_a_key_frame_comes_at_least_every_fifteen_frames(tmp_path: Path, name: str) -> None:
    path = tmp_path / "slot.mp4"
    _write(path, VIDEO_CODECS[name], 61).close()
    assert probe(path).key_distance_max <= 15


@pytest.mark.parametrize("name", ["hevc-lossless", "hevc-qp6"])
def test_hevc_depth_has_a_key_frame_every_fourth_frame_and_the_tag_that_players_know(tmp_path: Path, name: str) -> None:
    path = tmp_path / "slot.mp4"
    _write(path, DEPTH_CODECS[name], 22).close()
    assert probe(path, "depth").keys.nonzero()[0].tolist() == [0, 4, 8, 12, 16, 20]
    with av.open(str(path)) as container:
        assert container.streams.video[0].codec_context.codec_tag == "hvc1"
        assert container.streams.video[0].codec_context.color_range == 2  # full


@pytest.mark.parametrize("settings", [VIDEO_CODECS["libx264"], VIDEO_CODECS["libx265"], *DEPTH_CODECS.values()])
def test_no_encoder_holds_a_frame_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: VideoSettings
) -> None:
    held: list[int] = []
    real = video_writer.VideoWriter._mux

    def mux(
        self: VideoWriter, file: av.container.OutputContainer, packets: list[av.Packet[av.video.VideoStream]]
    ) -> None:
        real(self, file, packets)
        if len(held) < 20:
            held.append(self.frames_written + 1 - self.packets_written)

    monkeypatch.setattr(video_writer.VideoWriter, "_mux", mux)
    _write(tmp_path / "slot", settings, 20).close()
    assert held == [0] * 20


def test_av1_holds_at_most_a_few_frames_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    real = video_writer.VideoWriter._mux

    def mux(
        self: VideoWriter, file: av.container.OutputContainer, packets: list[av.Packet[av.video.VideoStream]]
    ) -> None:
        real(self, file, packets)
        held.append(self.frames_written + 1 - self.packets_written)

    monkeypatch.setattr(video_writer.VideoWriter, "_mux", mux)
    _write(tmp_path / "slot", VIDEO_CODECS["libsvtav1"], 40).close()
    assert max(held[:-1]) <= 4


@pytest.mark.parametrize(
    ("pix_fmt", "image"),
    [
        ("rgb24", picture_of(5)),
        ("bgr24", picture_of(5)[:, :, ::-1]),  # not contiguous either
        ("gray", np.ascontiguousarray(picture_of(5)[:, :, 0])),
        ("yuv420p", av.VideoFrame.from_ndarray(picture_of(5)).to_ndarray(format="yuv420p")),
    ],
)
def test_every_layout_of_colour_is_stored(tmp_path: Path, pix_fmt: str, image: np.ndarray) -> None:
    path = tmp_path / "slot.mp4"
    writer = _writer(path)
    writer.write(Frame(image, pix_fmt, 0))
    assert writer.close().error is None
    with VideoReader(path) as reader:
        assert read_number(reader[0]) == 5
        wanted = np.repeat(picture_of(5)[:, :, :1], 3, axis=2) if pix_fmt == "gray" else picture_of(5)
        assert np.abs(reader[0].astype(int) - wanted).mean() < 12


def test_ffv1_keeps_depth_to_the_millimetre(tmp_path: Path) -> None:
    path = tmp_path / "slot.mkv"
    _write(path, FFV1, 5).close()
    with VideoReader(path, kind="depth") as reader:
        assert all((reader[i] == depth_of(i)).all() for i in range(5))


def test_a_picture_of_another_size_is_refused_by_name_and_the_take_goes_on(tmp_path: Path) -> None:
    writer = _writer(tmp_path / "slot.mp4")
    assert writer.write(colour_frame(0))
    with pytest.raises(ContractError, match="slot: a picture of 128×64 in a video of 96×64"):
        writer.write(colour_frame(1, 64, 128))
    assert writer.write(colour_frame(1))
    result = writer.close()
    assert (result.frames, result.error) == (2, None)


@pytest.mark.parametrize(
    ("settings", "frame"), [(H264, depth_frame(0)), (FFV1, colour_frame(0)), (H264, Frame(np.zeros(7), "rgb24", 0))]
)
def test_a_picture_of_another_layout_is_refused(tmp_path: Path, settings: VideoSettings, frame: Frame) -> None:
    writer = _writer(tmp_path / "slot", settings)
    with pytest.raises(ContractError):
        writer.write(frame)
    assert writer.close().frames == 0


@pytest.mark.parametrize("size", [(65, 96), (64, 97)])
def test_an_odd_size_is_refused_before_anything_is_written(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "slot.mp4"
    with pytest.raises(ContractError, match="even"):
        VideoWriter(path, "slot", H264, 30, *size, queue_bound=8)
    assert not path.exists()


def test_depth_may_be_of_odd_size(tmp_path: Path) -> None:
    for name, settings in DEPTH_CODECS.items():
        path = tmp_path / name
        writer = VideoWriter(path, "slot", settings, 30, 65, 97, queue_bound=8, blocking=True)
        for i in range(6):
            writer.write(depth_frame(i, 65, 97))
        assert writer.close().error is None
        with VideoReader(path, kind="depth") as reader:
            assert [read_number(frame) for frame in reader] == list(range(6))


def test_a_full_queue_takes_no_frame_and_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = _Gate(monkeypatch)
    writer = _writer(tmp_path / "slot.mp4", blocking=False, bound=3)
    assert writer.write(colour_frame(0))
    assert gate.reached.wait(60)
    assert [writer.write(colour_frame(i)) for i in range(1, 6)] == [True, True, True, False, False]
    assert (writer.waiting, writer.has_room()) == (3, False)
    gate.open.set()
    assert writer.close().frames == 4


def test_a_blocking_writer_loses_nothing_behind_a_slow_encoder(tmp_path: Path) -> None:
    path = tmp_path / "slot.mp4"
    assert _write(path, H264, 100).close().frames == 100
    with VideoReader(path) as reader:
        assert [read_number(frame) for frame in reader] == list(range(100))


def test_a_failing_encoder_is_told_once_and_nothing_more_is_taken(tmp_path: Path) -> None:
    told: list[tuple[str, Exception]] = []
    ended = threading.Event()

    def on_error(slot: str, error: Exception) -> None:
        told.append((slot, error))
        ended.set()

    settings = msgspec.structs.replace(H264, options={"preset": "no-such-preset"})
    path = tmp_path / "slot.mp4"
    writer = VideoWriter(path, "slot", settings, 30, 64, 96, queue_bound=4, blocking=True, on_error=on_error)
    writer.write(colour_frame(0))
    assert ended.wait(60)
    assert not writer.write(colour_frame(1))
    assert not writer.has_room()
    result = writer.close()
    assert result.frames == 0
    assert result.error is not None
    assert "slot: libx264 failed at frame 0" in result.error
    assert [slot for slot, _error in told] == ["slot"]
    assert isinstance(told[0][1], VideoWriteError)


def test_a_failure_lets_a_waiting_writer_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reached, fail = threading.Event(), threading.Event()

    def av_frame(image: np.ndarray, pix_fmt: str, stored: str) -> av.VideoFrame:
        reached.set()
        assert fail.wait(60)
        raise RuntimeError("the encoder burnt down")

    monkeypatch.setattr("sinks.video_writer.av_frame", av_frame)
    writer = _writer(tmp_path / "slot.mp4", bound=1)
    assert writer.write(colour_frame(0))
    assert reached.wait(60)
    assert writer.write(colour_frame(1))
    answers: list[bool] = []
    waiting = threading.Thread(target=lambda: answers.append(writer.write(colour_frame(2))))
    waiting.start()
    fail.set()
    waiting.join(60)
    assert answers == [False]
    assert "burnt down" in str(writer.close().error)


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    path = tmp_path / "slot.mp4"
    path.symlink_to("/dev/full")
    writer = _write(path, H264, 1)
    error = writer.close().error
    assert error is not None
    assert "the disk is full" in error
    assert "slot" in error


def test_a_missing_folder_is_an_error_of_the_slot(tmp_path: Path) -> None:
    writer = _writer(tmp_path / "nowhere" / "slot.mp4", blocking=False)
    assert writer.write(colour_frame(0))
    error = writer.close().error
    assert error is not None
    assert "nowhere" in error


def test_closing_twice_says_the_same_and_writing_after_it_is_refused(tmp_path: Path) -> None:
    writer = _write(tmp_path / "slot.mp4", H264, 3)
    assert writer.close() == writer.close()
    assert writer.close().frames == 3
    assert not writer.write(colour_frame(3))


@pytest.mark.parametrize("settings", [H264, FFV1])
def test_a_take_without_a_frame_closes_without_an_error(tmp_path: Path, settings: VideoSettings) -> None:
    result = _writer(tmp_path / "slot", settings).close()
    assert (result.frames, result.error) == (0, None)


def test_aborting_works_nothing_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = _Gate(monkeypatch)
    writer = _writer(tmp_path / "slot.mp4", blocking=False, bound=10)
    for i in range(6):
        writer.write(colour_frame(i))
    assert gate.reached.wait(60)
    ending = threading.Thread(target=writer.abort)
    ending.start()
    while writer.waiting:  # the abort empties the queue before it waits for the thread
        ending.join(0.01)
    gate.open.set()
    ending.join(60)
    assert writer.frames_written == 1
    assert writer.error is None


def test_load_is_the_busy_share_since_the_last_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10**9]
    monkeypatch.setattr(video_writer, "time", SimpleNamespace(monotonic_ns=lambda: now[0]))
    writer = _writer(tmp_path / "slot.mp4")
    writer._busy_ns = 250
    now[0] += 1000
    assert writer.load() == 0.25
    now[0] += 1000
    assert writer.load() == 0.0
    writer.close()
