"""The counter in the pixels: read back exactly, through lossy codecs too, and never made up."""

from __future__ import annotations

import io
from fractions import Fraction

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodes.depth_codec import codes_to_mm, mm_to_codes
from sources.virtual.counter import PictureStamp, draw_depth_stamp, draw_stamp, read_counter, read_stamp
from sources.virtual.scene import Scene

SIZES = [(240, 320), (320, 480), (480, 640)]


@given(counter=st.integers(0, 2**24 - 1), clock_ms=st.integers(0, 2**32 - 1))
def test_what_was_drawn_is_read(counter: int, clock_ms: int) -> None:
    image = np.zeros((64, 64, 3), dtype=np.uint8)
    draw_stamp(image, counter, clock_ms * 1_000_000)
    assert read_stamp(image) == PictureStamp(counter, clock_ms)
    depth = np.zeros((64, 64), dtype=np.uint16)
    draw_depth_stamp(depth, counter, clock_ms * 1_000_000)
    assert read_stamp(depth) == PictureStamp(counter, clock_ms)


@pytest.mark.parametrize("level", [0, 127, 255])
def test_a_picture_without_a_strip_has_no_counter(level: int) -> None:
    assert read_counter(np.full((64, 64, 3), level, dtype=np.uint8)) is None


def test_a_picture_that_cannot_hold_a_strip_has_no_counter() -> None:
    assert read_counter(np.zeros((20, 64, 3), dtype=np.uint8)) is None
    assert read_counter(np.zeros((64, 50, 3), dtype=np.uint8)) is None


def test_noise_in_every_pixel_does_not_matter() -> None:
    random = np.random.default_rng(0)
    image = np.zeros((240, 320, 3), dtype=np.uint8)
    draw_stamp(image, 123_456, 789_000_000)
    noisy = np.clip(image + random.normal(0, 60, image.shape), 0, 255).astype(np.uint8)
    assert read_counter(noisy) == 123_456


@pytest.mark.parametrize("size", SIZES)
def test_the_strip_survives_h264_and_420(size: tuple[int, int]) -> None:
    scene = Scene(*size, focal_px=size[1] / 2)
    counters = [0, 1, 2**24 - 1, 0x555555, 0xAAAAAA, 77]
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=Fraction(30), options={"crf": "30", "preset": "ultrafast"})
        assert isinstance(stream, av.VideoStream)
        stream.height, stream.width, stream.pix_fmt = *size, "yuv420p"
        for index, counter in enumerate(counters):
            image = scene.colour((0.01 * index, 0.0, 0.0))
            draw_stamp(image, counter, index * 33_000_000)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
    buffer.seek(0)
    with av.open(buffer, "r") as container:
        pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert [read_counter(picture) for picture in pictures] == counters
    buffer.seek(0)
    with av.open(buffer, "r") as container:
        planes = [frame.to_ndarray() for frame in container.decode(video=0)]
        assert [read_counter(picture) for picture in planes] == counters


def test_the_depth_strip_survives_log_codes() -> None:
    depth = Scene(240, 320, focal_px=160).depth((0.0, 0.0, 0.0))
    draw_depth_stamp(depth, 4711, 5_000_000)
    assert read_counter(codes_to_mm(mm_to_codes(depth))) == 4711
