"""The encoders that rigflow knows, ready to open."""

from __future__ import annotations

import os
from typing import Any

import av
import av.logging
import msgspec

from episodes.errors import ContractError

__all__ = [
    "DEPTH_CODECS",
    "VIDEO_CODECS",
    "VideoSettings",
    "check_size",
    "depth_settings",
    "encoder_built",
    "video_settings",
]

av.logging.set_level(None)
# SVT-AV1 prints twenty lines a stream to stderr, over the live table, whatever FFmpeg's log level; 1 leaves its errors.
os.environ.setdefault("SVT_LOG", "1")

COLOUR_GOP = 15
DEPTH_GOP = 4

# Half a second may wait in a writer's queue; with a fragment of 0.4 s and the frame in the encoder a kill stays below
# one second. At 0.5 s libx265 was seen to lose 31 of 30 frames.
_MP4 = {"movflags": "hybrid_fragmented", "frag_duration": "400000", "flush_packets": "1"}
_MKV = {"cluster_time_limit": "500", "flush_packets": "1"}
# No encoder may hold frames back: no lookahead, no B-frames, no frame threads.
_X265 = "bframes=0:rc-lookahead=0:scenecut=0:frame-threads=1:pools=none:log-level=none"
# Limited range turns 600 mm into 402. The MD5 of each picture costs a millisecond, and makes a flipped bit an error on
# reading instead of another depth.
_HASHED = "range=full:hash=1"


class VideoSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One encoder, ready to open.

    Attributes:
        encoder: FFmpeg's name. options: the codec's, as text. pix_fmt: what is stored.
        extension: of the file. container: the muxer's options. tag: codec tag or "".
        label: what ``video_codec`` says of it.
    """

    encoder: str
    options: dict[str, str]
    pix_fmt: str
    extension: str
    container: dict[str, str]
    tag: str = ""
    label: dict[str, Any] = {}


VIDEO_CODECS: dict[str, VideoSettings] = {
    "hevc_nvenc": VideoSettings(
        encoder="hevc_nvenc",
        options={"rc": "vbr", "cq": "30", "preset": "p4", "bf": "0", "g": str(COLOUR_GOP), "delay": "0"},
        pix_fmt="yuv420p",
        extension="mp4",
        container=_MP4,
        tag="hvc1",
        label={"encoder": "hevc_nvenc", "codec": "HEVC", "crf": 30},
    ),
    "libx265": VideoSettings(
        encoder="libx265",
        options={
            "preset": "veryfast",
            "crf": "30",
            "x265-params": f"keyint={COLOUR_GOP}:min-keyint={COLOUR_GOP}:{_X265}",
        },
        pix_fmt="yuv420p",
        extension="mp4",
        container=_MP4,
        tag="hvc1",
        label={"encoder": "libx265", "codec": "HEVC", "crf": 30},
    ),
    "libx264": VideoSettings(
        encoder="libx264",
        options={
            "preset": "ultrafast",
            "crf": "23",
            "g": str(COLOUR_GOP),
            "tune": "zerolatency",
            "x264-params": "sliced-threads=0:log-level=none",
        },
        pix_fmt="yuv420p",
        extension="mp4",
        container=_MP4,
        label={"encoder": "libx264", "codec": "H.264", "crf": 23},
    ),
    "libsvtav1": VideoSettings(
        encoder="libsvtav1",
        options={
            "preset": "12",
            "crf": "30",
            "g": str(COLOUR_GOP),
            "svtav1-params": "pred-struct=1:lookahead=0:lp=1",
        },
        pix_fmt="yuv420p",
        extension="mp4",
        container=_MP4,
        label={"encoder": "libsvtav1", "codec": "AV1", "crf": 30},
    ),
}

DEPTH_CODECS: dict[str, VideoSettings] = {
    "hevc-lossless": VideoSettings(
        encoder="libx265",
        options={
            "preset": "ultrafast",
            "x265-params": f"lossless=1:{_HASHED}:keyint={DEPTH_GOP}:min-keyint={DEPTH_GOP}:{_X265}",
        },
        pix_fmt="gray12le",
        extension="mp4",
        container=_MP4,
        tag="hvc1",
        label={"codec": "HEVC (Rext) gray12le", "lossless": True, "format": "12bit log codes"},
    ),
    "hevc-qp6": VideoSettings(
        encoder="libx265",
        options={
            "preset": "fast",
            "x265-params": f"qp=6:{_HASHED}:keyint={DEPTH_GOP}:min-keyint={DEPTH_GOP}:{_X265}",
        },
        pix_fmt="gray12le",
        extension="mp4",
        container=_MP4,
        tag="hvc1",
        label={"codec": "HEVC (Rext) gray12le", "qp": 6, "format": "12bit log codes"},
    ),
    "ffv1": VideoSettings(
        encoder="ffv1",
        options={"level": "3", "g": "1", "slices": "4", "slicecrc": "1"},
        pix_fmt="gray16le",
        extension="mkv",
        container=_MKV,
        label={"codec": "FFV1 gray16le", "format": "uint16 mm"},
    ),
}


def video_settings(encoder: str) -> VideoSettings:
    """The colour settings of an encoder's name.

    Raises:
        ContractError: it is not known, or not in this build of FFmpeg.
    """
    settings = VIDEO_CODECS.get(encoder)
    if settings is None:
        raise ContractError(f"video_codec {encoder!r} is none of auto, {', '.join(VIDEO_CODECS)}")
    if not encoder_built(settings.encoder):
        raise ContractError(f"video_codec {encoder!r} is not in this build of FFmpeg; use auto")
    return settings


def depth_settings(codec: str, quality: str = "lossless") -> VideoSettings:
    """The depth settings of ``hevc`` (``quality`` lossless or qp6) or ``ffv1``.

    Raises:
        ContractError: it is not known.
    """
    name = f"hevc-{quality}" if codec == "hevc" else codec
    if name not in DEPTH_CODECS:
        raise ContractError(f"depth_codec {codec!r} with quality {quality!r}: use auto, hevc (lossless or qp6) or ffv1")
    return DEPTH_CODECS[name]


def encoder_built(encoder: str) -> bool:
    """Whether this build of FFmpeg has an encoder; NVENC is in it on machines without the hardware, too."""
    try:
        av.Codec(encoder, "w")
    except ValueError:
        return False
    return True


def check_size(slot: str, settings: VideoSettings, height: int, width: int) -> None:
    """Refuse what an encoder cannot store.

    Raises:
        ContractError: an odd width or height where colour is stored at half the resolution.
    """
    if settings.pix_fmt == "yuv420p" and (height % 2 or width % 2):
        raise ContractError(
            f"{slot}: pictures of {width}×{height} cannot be stored by {settings.encoder}, whose width and height are "
            f"even; set the camera to an even size"
        )
