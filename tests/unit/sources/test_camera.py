"""What of a camera can be said without one: its name, its pixels, its refusals."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from operators.errors import DeviceError
from sources.camera import camera, camera_id, is_live
from sources.camera_pixels import pixels_of
from tests.source_events import Listener


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("/dev/video0", "/dev/video0"),
        ("/home/me/films/bikes.mp4", "bikes.mp4"),
        ("http://user:secret@10.0.0.7:8080/stream?token=secret#secret", "http://10.0.0.7:8080/stream"),
        ("rtsp://a:se@cret@cam.local/live", "rtsp://cam.local/live"),
        (
            "rtsp://10.0.0.7/user=admin&password=secret&channel=1/stream",
            "rtsp://10.0.0.7/user=***&password=***&channel=1/stream",
        ),
    ],
)
def test_the_id_of_a_source_never_holds_credentials(source: str, name: str) -> None:
    assert camera_id(source) == name
    assert "secret" not in camera_id(source)


def test_a_file_ends_a_take_and_streams_do_not() -> None:
    assert not is_live("film.mp4")
    assert is_live("/dev/video0")
    assert is_live("http://cam/stream")


@pytest.mark.parametrize(
    "source",
    ["concat://a.mp4", "file:///etc/passwd", "ftp://user:secret@host/film.mp4", "subfile://x", "no such file.mp4"],
)
def test_what_is_no_camera_is_refused_without_credentials(source: str) -> None:
    with Listener(camera(source, key="camera:x")) as heard:
        heard.until_end()
    assert isinstance(heard.error, DeviceError)
    assert "secret" not in str(heard.error)


def test_a_refused_connection_does_not_tell_the_password() -> None:
    with Listener(camera("http://user:secret@127.0.0.1:9/x", key="camera:x")) as heard:
        heard.until_end()
    assert "cannot be opened" in str(heard.error)
    assert "secret" not in str(heard.error)
    assert heard.error is not None
    assert heard.error.__cause__ is None
    assert heard.error.__suppress_context__


def test_a_playlist_in_a_file_cannot_lead_elsewhere(tmp_path: Path) -> None:
    playlist = tmp_path / "film.m3u8"
    playlist.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:9/secret.ts\n#EXT-X-ENDLIST\n")
    with Listener(camera(str(playlist), key="camera:x")) as heard:
        heard.until_end()
    assert isinstance(heard.error, DeviceError)
    assert heard.events == []


def test_a_text_file_is_no_video(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_text("no film\n" * 1000)
    with Listener(camera(str(path), key="camera:film.mp4")) as heard:
        heard.until_end()
    assert str(heard.error).startswith("camera:film.mp4: ")


def gradient() -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    image = np.zeros((48, 64, 3), dtype=np.uint8)
    image[..., 0] = np.arange(64) * 4
    image[..., 1] = (np.arange(48) * 5)[:, None]
    image[..., 2] = 128
    return image


def as_rgb(picture: av.VideoFrame) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    image, pix_fmt = pixels_of(picture)
    frame = av.VideoFrame.from_ndarray(image, format=pix_fmt)
    return frame.to_ndarray(format="rgb24").astype(np.int64)


@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuv422p", "yuyv422", "nv12", "rgb24", "bgr24", "yuv444p"])
def test_colours_stay_what_they_were(pix_fmt: str) -> None:
    picture = av.VideoFrame.from_ndarray(gradient(), format="rgb24").reformat(format=pix_fmt)
    assert np.abs(as_rgb(picture) - gradient()).mean() < 3


@pytest.mark.parametrize("pix_fmt", ["yuvj420p", "yuvj422p", "yuvj444p"])
def test_the_full_range_of_mjpeg_is_brought_into_the_limited_one(pix_fmt: str) -> None:
    picture = av.VideoFrame.from_ndarray(gradient(), format="rgb24").reformat(format=pix_fmt, dst_color_range=2)
    image, stored = pixels_of(picture)
    assert stored == "yuv420p"
    assert image.shape == (72, 64)
    assert np.abs(as_rgb(picture) - gradient()).mean() < 3


def test_planes_of_the_limited_range_are_passed_as_they_are() -> None:
    planes = np.random.default_rng(0).integers(16, 236, (72, 64)).astype(np.uint8)
    image, pix_fmt = pixels_of(av.VideoFrame.from_ndarray(planes, format="yuv420p"))
    assert pix_fmt == "yuv420p"
    assert np.array_equal(image, planes)


def test_a_size_that_420_cannot_hold_becomes_rgb() -> None:
    picture = av.VideoFrame.from_ndarray(gradient()[:47, :63].copy(), format="rgb24").reformat(format="yuv444p")
    image, pix_fmt = pixels_of(picture)
    assert (pix_fmt, image.shape) == ("rgb24", (47, 63, 3))
    assert image.flags.c_contiguous


def test_another_colour_matrix_is_converted_and_not_mistaken() -> None:
    picture = av.VideoFrame.from_ndarray(gradient(), format="rgb24").reformat(format="yuv420p", dst_colorspace=1)
    assert picture.colorspace == 1
    assert np.abs(as_rgb(picture) - gradient()).mean() < 3
