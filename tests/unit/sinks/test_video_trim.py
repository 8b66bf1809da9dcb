from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from episodes.errors import CorruptFileError
from episodes.video import VideoReader, probe
from episodes.video_file import Wanted
from sinks.video_settings import DEPTH_CODECS, VIDEO_CODECS, VideoSettings
from sinks.video_trim import readable_frames, trim_video
from sinks.video_writer import VideoWriter
from tests.numbered_pictures import colour_frame, depth_frame, read_number

FRAMES = 80
SETTINGS: dict[str, VideoSettings] = {
    **{name: settings for name, settings in VIDEO_CODECS.items() if name != "hevc_nvenc"},
    **DEPTH_CODECS,
}


def _kind(settings: VideoSettings) -> Wanted:
    return "depth" if settings.pix_fmt.startswith("gray") else "rgb"


def _unfinished(settings: VideoSettings) -> VideoSettings:
    """The same, but as a kill leaves it: fragments, never made an ordinary file."""
    if settings.extension == "mkv":
        return settings
    container = {**settings.container, "movflags": "empty_moov+default_base_moof"}
    return VideoSettings(
        encoder=settings.encoder,
        options=settings.options,
        pix_fmt=settings.pix_fmt,
        extension=settings.extension,
        container=container,
        tag=settings.tag,
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, bool], Path]:
    folder, made = tmp_path_factory.mktemp("videos"), dict[tuple[str, bool], Path]()

    def make(name: str, finished: bool) -> Path:
        if (name, finished) not in made:
            settings = SETTINGS[name] if finished else _unfinished(SETTINGS[name])
            path = folder / f"{name}-{finished}.{settings.extension}"
            writer = VideoWriter(path, "slot", settings, 30, 64, 96, queue_bound=8, blocking=True)
            for i in range(FRAMES):
                writer.write(depth_frame(i) if _kind(settings) == "depth" else colour_frame(i))
            assert writer.close().error is None
            made[(name, finished)] = path
        return made[(name, finished)]

    return make


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("name", SETTINGS)
def test_exactly_the_first_frames_are_kept_bit_for_bit(
    name: str, finished: bool, tmp_path: Path, stored: Callable[[str, bool], Path]
) -> None:
    source, kind = stored(name, finished), _kind(SETTINGS[name])
    assert readable_frames(source) == FRAMES
    for count in (1, 37, FRAMES):
        target = tmp_path / f"{count}.{SETTINGS[name].extension}"
        trim_video(source, target, count, 30)
        with VideoReader(source, kind=kind) as before, VideoReader(target, kind=kind) as after:
            assert len(after) == count
            assert all(np.array_equal(x, y) for x, y in zip(before.frames(0, count), after, strict=True))
        info = probe(target, kind)
        assert info.first_off_grid(30) is None
        assert info.keys[0]


@pytest.mark.parametrize("fps", [Fraction(30000, 1001), 30.84, 25])
def test_a_trimmed_frame_stands_at_i_over_fps_exactly(
    tmp_path: Path, stored: Callable[[str, bool], Path], fps: float | Fraction
) -> None:
    target = tmp_path / "cut.mp4"
    trim_video(stored("libx264", False), target, 50, fps)
    info, rate = probe(target), Fraction(fps).limit_denominator(100_000)
    assert [int(pts) * info.time_base for pts in info.pts] == [i / rate for i in range(50)]


@pytest.mark.parametrize("name", ["libx265", "hevc-lossless"])
def test_the_tag_that_players_know_is_kept(name: str, tmp_path: Path, stored: Callable[[str, bool], Path]) -> None:
    target = tmp_path / "cut.mp4"
    trim_video(stored(name, False), target, 10, 30)
    with av.open(str(target)) as container:
        assert container.streams.video[0].codec_context.codec_tag == "hvc1"


@pytest.mark.parametrize("name", SETTINGS)
def test_a_file_cut_anywhere_gives_its_whole_frames_and_no_other(
    name: str, tmp_path: Path, stored: Callable[[str, bool], Path]
) -> None:
    settings, whole = SETTINGS[name], stored(name, False).read_bytes()
    chosen = random.Random(7)
    seen = set[int]()
    for size in [0, 1, 100, *(chosen.randrange(1000, len(whole)) for _ in range(12))]:
        source, target = tmp_path / f"source.{settings.extension}", tmp_path / f"target.{settings.extension}"
        source.write_bytes(whole[:size])
        frames = readable_frames(source)
        seen.add(frames)
        assert 0 <= frames <= FRAMES * size / len(whole) + 20
        if frames:
            trim_video(source, target, frames, 30)
            with VideoReader(target, kind=_kind(settings)) as reader:
                assert [read_number(frame) for frame in reader] == list(range(frames))
    assert len(seen) > 3


@pytest.mark.parametrize("name", ["libx264", "hevc-lossless", "ffv1"])
def test_a_tail_of_zeros_after_a_power_cut_is_not_taken_for_frames(
    name: str, tmp_path: Path, stored: Callable[[str, bool], Path]
) -> None:
    settings, whole = SETTINGS[name], stored(name, False).read_bytes()
    source, target = tmp_path / f"source.{settings.extension}", tmp_path / f"target.{settings.extension}"
    kept = len(whole) * 8 // 10
    source.write_bytes(whole[:kept] + bytes(len(whole) - kept))
    frames = readable_frames(source)
    assert 20 <= frames < FRAMES
    trim_video(source, target, frames, 30)
    with VideoReader(target, kind=_kind(settings)) as reader:
        assert [read_number(frame) for frame in reader] == list(range(frames))


@pytest.mark.parametrize("name", ["hevc-lossless", "ffv1"])
def test_a_hole_inside_the_tail_ends_the_readable_frames(
    name: str, tmp_path: Path, stored: Callable[[str, bool], Path]
) -> None:
    settings, content = SETTINGS[name], bytearray(stored(name, False).read_bytes())
    with av.open(str(stored(name, False))) as container:
        packet = [bytes(packet) for packet in container.demux(video=0) if packet.size][FRAMES - 9]
    at = content.find(packet)
    content[at + 50 : at + 90] = bytes(40)
    source = tmp_path / f"source.{settings.extension}"
    source.write_bytes(content)
    assert readable_frames(source) == FRAMES - 9


def test_more_frames_than_there_are_is_an_error_of_the_source(
    tmp_path: Path, stored: Callable[[str, bool], Path]
) -> None:
    with pytest.raises(CorruptFileError, match=f"has {FRAMES} whole frames, not {FRAMES + 1}"):
        trim_video(stored("libx264", True), tmp_path / "cut.mp4", FRAMES + 1, 30)


def test_a_foreign_source_has_no_frames_and_is_not_trimmed(tmp_path: Path) -> None:
    source = tmp_path / "foreign.mp4"
    source.write_bytes(b"ffconcat version 1.0\nfile /etc/hostname\n")
    assert readable_frames(source) == 0
    assert readable_frames(tmp_path / "gone.mp4") == 0
    with pytest.raises(CorruptFileError):
        trim_video(source, tmp_path / "cut.mp4", 1, 30)
