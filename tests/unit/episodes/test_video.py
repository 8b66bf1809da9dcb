from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Literal

import av
import av.video
import numpy as np
import pytest

from episodes.depth_codec import codes_to_mm, mm_to_codes
from episodes.errors import CorruptFileError
from episodes.video import VideoReader, probe
from episodes.video_file import open_video, picture_stream, quick_index, scan_index
from sinks.video_settings import DEPTH_CODECS, VIDEO_CODECS, VideoSettings
from sinks.video_writer import VideoWriter
from tests.numbered_pictures import colour_frame, depth_frame, depth_of, picture_of, read_number

FRAMES = 40
DAMAGED = 9
Kind = Literal["rgb", "depth"]
STORED: dict[str, tuple[VideoSettings, Kind]] = {
    **{name: (settings, "rgb") for name, settings in VIDEO_CODECS.items() if name != "hevc_nvenc"},
    **{name: (settings, "depth") for name, settings in DEPTH_CODECS.items()},
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder, made = tmp_path_factory.mktemp("videos"), dict[str, Path]()

    def make(name: str) -> Path:
        if name not in made:
            settings, kind = STORED[name]
            path = folder / f"{name}.{settings.extension}"
            writer = VideoWriter(path, "slot", settings, 30, 64, 96, queue_bound=8, blocking=True)
            for i in range(FRAMES):
                assert writer.write(depth_frame(i) if kind == "depth" else colour_frame(i))
            assert writer.close().error is None
            made[name] = path
        return made[name]

    return make


def _encode(
    path: Path, encoder: str, options: dict[str, str], numbers: range, *, pix_fmt: str = "yuv420p", rate: int = 30
) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream(encoder, rate=rate, options=options)
        assert isinstance(stream, av.video.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 96, 64, pix_fmt
        for i in numbers:
            picture = av.VideoFrame.from_ndarray(picture_of(i), format="rgb24")
            picture.pts, picture.time_base = i, Fraction(1, rate)
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))


@pytest.mark.parametrize("name", STORED)
def test_frame_i_is_frame_i_whatever_was_read_before(name: str, stored: Callable[[str], Path]) -> None:
    order = [*range(FRAMES), 0, FRAMES - 1, 0, *random.Random(3).choices(range(FRAMES), k=60)]
    with VideoReader(stored(name), kind=STORED[name][1]) as reader:
        assert len(reader) == FRAMES
        assert [read_number(reader[i]) for i in order] == order


@pytest.mark.parametrize("name", STORED)
def test_random_access_gives_the_pixels_of_sequential_access(name: str, stored: Callable[[str], Path]) -> None:
    with VideoReader(stored(name), kind=STORED[name][1]) as reader:
        in_order = list(reader)
        assert len(in_order) == FRAMES
        assert {frame.shape for frame in in_order} == {reader.shape}
        for i in (17, 3, 16, 39, 15, 14):
            assert (reader[i] == in_order[i]).all()


@pytest.mark.parametrize("name", STORED)
def test_a_range_of_frames_begins_and_ends_where_it_says(name: str, stored: Callable[[str], Path]) -> None:
    with VideoReader(stored(name), kind=STORED[name][1]) as reader:
        assert [read_number(frame) for frame in reader.frames(11, 23)] == list(range(11, 23))
        assert [read_number(frame) for frame in reader.frames(37, 99)] == [37, 38, 39]
        assert list(reader.frames(5, 5)) == []


def test_negative_places_count_from_the_end_and_others_are_refused(stored: Callable[[str], Path]) -> None:
    with VideoReader(stored("libx264")) as reader:
        assert read_number(reader[-1]) == FRAMES - 1
        for place in (FRAMES, -FRAMES - 1):
            with pytest.raises(IndexError, match="no frame"):
                reader[place]


def test_two_interleaved_iterators_give_their_own_frames(stored: Callable[[str], Path]) -> None:
    def numbers(reader: VideoReader, start: int) -> Iterator[int]:
        return (read_number(frame) for frame in reader.frames(start))

    with VideoReader(stored("libx264")) as reader:
        pairs = zip(numbers(reader, 0), numbers(reader, 20), strict=False)
        assert list(pairs) == [(i, i + 20) for i in range(20)]


def test_colour_comes_as_rgb(tmp_path: Path, stored: Callable[[str], Path]) -> None:
    with VideoReader(stored("libx264")) as reader:
        assert np.abs(reader[5].astype(int) - picture_of(5)).mean() < 12
        assert np.abs(reader[5][:, :, ::-1].astype(int) - picture_of(5)).mean() > 20


@pytest.mark.parametrize("name", ["hevc-lossless", "ffv1"])
def test_depth_is_exact_to_the_code_or_the_millimetre(name: str, stored: Callable[[str], Path]) -> None:
    with VideoReader(stored(name), kind="depth") as reader:
        for i in (0, 7, 39):
            mm, codes = depth_of(i), mm_to_codes(depth_of(i))
            assert (reader.codes(i) == codes).all()
            assert (reader[i] == (mm if name == "ffv1" else codes_to_mm(codes))).all()
            assert reader[i].dtype == np.uint16


def test_depth_of_quality_qp6_is_near(stored: Callable[[str], Path]) -> None:
    with VideoReader(stored("hevc-qp6"), kind="depth") as reader:
        codes = mm_to_codes(depth_of(9)).astype(int)
        assert np.abs(reader.codes(9).astype(int) - codes).mean() < 40


def test_log_codes_of_a_colour_slot_are_refused(stored: Callable[[str], Path]) -> None:
    with VideoReader(stored("libx264")) as reader, pytest.raises(ValueError, match="only depth"):
        reader.codes(0)


@pytest.mark.parametrize(
    ("encoder", "options"),
    [
        ("libx264", {"bf": "3", "g": "12"}),
        ("libx265", {"x265-params": "bframes=3:keyint=12:min-keyint=12:open-gop=1:log-level=none"}),
        ("libx264", {"g": "250"}),
    ],
)
def test_reordered_and_far_keyed_video_of_other_recorders_is_read_frame_by_frame(
    tmp_path: Path, encoder: str, options: dict[str, str]
) -> None:
    path = tmp_path / "old.mp4"
    _encode(path, encoder, options, range(60))
    order = [59, 0, 11, 12, 13, 35, 34, 33, *random.Random(1).choices(range(60), k=40)]
    with VideoReader(path) as reader:
        assert len(reader) == 60
        assert [read_number(reader[i]) for i in order] == order
        assert [read_number(frame) for frame in reader] == list(range(60))


def test_depth_is_found_behind_the_heat_map_of_a_file_with_two_streams(tmp_path: Path) -> None:
    path = tmp_path / "dual.mkv"
    with av.open(str(path), "w") as container:
        heat = container.add_stream("libx264", rate=30)
        deep = container.add_stream("ffv1", rate=30)
        assert isinstance(heat, av.video.VideoStream)
        assert isinstance(deep, av.video.VideoStream)
        for stream, pix_fmt in ((heat, "yuv420p"), (deep, "gray16le")):
            stream.width, stream.height, stream.pix_fmt = 96, 64, pix_fmt
        for i in range(20):
            pictures = (
                (heat, av.VideoFrame.from_ndarray(picture_of(500 + i), format="rgb24")),
                (deep, av.VideoFrame.from_ndarray(depth_of(i), format="gray16le")),
            )
            for stream, picture in pictures:
                picture.pts, picture.time_base = i, Fraction(1, 30)
                container.mux(stream.encode(picture))
        container.mux(heat.encode(None))
        container.mux(deep.encode(None))
    with VideoReader(path, kind="depth") as reader:
        assert (reader[13] == depth_of(13)).all()
        assert (reader[2] == depth_of(2)).all()
        assert len(reader) == 20
    assert probe(path, "depth").codec == "ffv1"


def test_a_heat_map_alone_is_no_depth(stored: Callable[[str], Path]) -> None:
    with pytest.raises(CorruptFileError, match="heat map"):
        VideoReader(stored("libx264"), kind="depth")


@pytest.mark.parametrize("name", STORED)
def test_probe_tells_a_file_without_decoding_it(name: str, stored: Callable[[str], Path]) -> None:
    settings, kind = STORED[name]
    info = probe(stored(name), kind)
    assert (info.frames, info.width, info.height, info.pix_fmt) == (FRAMES, 96, 64, settings.pix_fmt)
    assert info.first_off_grid(30) is None
    assert info.key_distance_max <= (4 if kind == "depth" else 15)
    assert info.times_s[30] == pytest.approx(1.0, abs=1e-3)


def test_probe_names_the_first_frame_off_the_grid(tmp_path: Path) -> None:
    path = tmp_path / "shifted.mp4"
    _encode(path, "libx264", {"bf": "0"}, range(12))
    assert probe(path).first_off_grid(30) is None
    assert probe(path).first_off_grid(Fraction(30000, 1001)) == 1
    assert probe(path).first_off_grid(25) == 1
    path = tmp_path / "gap.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30, options={"bf": "0"})
        assert isinstance(stream, av.video.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for i in range(12):
            picture = av.VideoFrame.from_ndarray(picture_of(i), format="rgb24")
            picture.pts, picture.time_base = i if i < 7 else i + 1, Fraction(1, 30)
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    assert probe(path).first_off_grid(30) == 7


def test_matroska_is_on_the_grid_to_its_nearest_millisecond(stored: Callable[[str], Path]) -> None:
    info = probe(stored("ffv1"), "depth")
    assert info.time_base == Fraction(1, 1000)
    assert info.first_off_grid(30) is None
    assert info.first_off_grid(29) is not None


@pytest.mark.parametrize("name", [name for name in STORED if name != "ffv1"])
def test_the_index_in_a_finished_mp4_agrees_with_its_packets(name: str, stored: Callable[[str], Path]) -> None:
    path, kind = stored(name), STORED[name][1]
    with open_video(path) as container:
        stream = picture_stream(path, container, kind)
        assert quick_index(container, stream) == scan_index(path, container, stream)


def test_no_quick_index_is_taken_from_reordered_video(tmp_path: Path) -> None:
    path = tmp_path / "reordered.mp4"
    _encode(path, "libx264", {"bf": "3"}, range(30))
    with open_video(path) as container:
        assert quick_index(container, picture_stream(path, container, "rgb")) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 4096,
        b"not a video at all " * 100,
        b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n",
        b"ffconcat version 1.0\nfile /etc/hostname\n",
    ],
)
@pytest.mark.parametrize("extension", ["mp4", "mkv"])
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes, extension: str) -> None:
    path = tmp_path / f"foreign.{extension}"
    path.write_bytes(content)
    for look in (probe, VideoReader):
        with pytest.raises(CorruptFileError, match="foreign"):
            look(path)


def test_a_playlist_does_not_lead_to_another_file(tmp_path: Path, stored: Callable[[str], Path]) -> None:
    path = tmp_path / "list.mp4"
    path.write_text(f"ffconcat version 1.0\nfile '{stored('libx264')}'\n")
    with pytest.raises(CorruptFileError, match="no readable video"):
        VideoReader(path)


def test_a_picture_under_a_video_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.mp4"
    with av.open(str(path), "w", format="image2", options={"update": "1"}) as container:
        stream = container.add_stream("png", rate=1)
        assert isinstance(stream, av.video.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "rgb24"
        container.mux(stream.encode(av.VideoFrame.from_ndarray(picture_of(1), format="rgb24")))
        container.mux(stream.encode(None))
    with pytest.raises(CorruptFileError, match="no readable video"):
        VideoReader(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorruptFileError, match=r"gone\.mp4: is not there"):
        VideoReader(tmp_path / "gone.mp4")


def test_a_name_with_a_colon_is_a_file_and_no_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _encode(tmp_path / "plain.mp4", "libx264", {}, range(3))
    (tmp_path / "plain.mp4").rename(tmp_path / "crypto:odd.mp4")
    with VideoReader(Path("crypto:odd.mp4")) as reader:
        assert len(reader) == 3


def test_an_mp4_cut_off_before_its_index_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.mp4"
    _encode(path, "libx264", {}, range(20))
    path.write_bytes(path.read_bytes()[:-900])
    for look in (probe, VideoReader):
        with pytest.raises(CorruptFileError):
            look(path)


def test_pictures_missing_behind_an_index_are_refused_where_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "cut.mp4"
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("libx264", rate=30, options={"bf": "0", "g": "5"})
        assert isinstance(stream, av.video.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for i in range(30):
            picture = av.VideoFrame.from_ndarray(picture_of(i), format="rgb24")
            picture.pts, picture.time_base = i, Fraction(1, 30)
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 6 // 10])
    with pytest.raises(CorruptFileError):
        probe(path)
    with VideoReader(path) as reader:
        assert read_number(reader[3]) == 3
        with pytest.raises(CorruptFileError):
            reader[29]
        assert read_number(reader[4]) == 4


@pytest.mark.parametrize("name", ["ffv1", "libx264", "hevc-lossless"])
def test_a_damaged_picture_is_an_error_and_not_a_plausible_picture(
    name: str, tmp_path: Path, stored: Callable[[str], Path]
) -> None:
    settings, kind = STORED[name]
    path = tmp_path / f"damaged.{settings.extension}"
    content = bytearray(stored(name).read_bytes())
    with av.open(str(stored(name))) as container:
        # Not the first: most of its bytes are the encoder's description of itself.
        packet = [bytes(packet) for packet in container.demux(video=0) if packet.size][DAMAGED]
    at = content.find(packet) + len(packet) // 2
    content[at : at + 8] = bytes(8)
    path.write_bytes(content)
    with VideoReader(path, kind=kind) as reader:
        assert read_number(reader[DAMAGED - 1]) == DAMAGED - 1
        with pytest.raises(CorruptFileError, match=f"frame {DAMAGED}"):
            reader[DAMAGED]


def test_a_picture_that_changes_its_size_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "resized.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=30)
        assert isinstance(stream, av.video.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "gray16le"
        other = av.CodecContext.create("mjpeg", "w")
        assert isinstance(other, av.VideoCodecContext)
        for i in range(3):
            picture = av.VideoFrame.from_ndarray(depth_of(i), format="gray16le")
            picture.pts, picture.time_base = i, Fraction(1, 30)
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    with VideoReader(path, kind="depth") as reader:
        reader._size = (64, 98)  # as if the header spoke of another size than the pictures have
        with pytest.raises(CorruptFileError, match="96×64"):
            reader[1]


def test_a_closed_reader_lets_the_file_go(tmp_path: Path) -> None:
    path = tmp_path / "closed.mp4"
    _encode(path, "libx264", {}, range(4))
    reader = VideoReader(path)
    reader[1]
    reader.close()
    open_files = [link.resolve() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    assert path.resolve() not in open_files
