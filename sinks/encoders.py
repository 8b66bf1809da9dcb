"""Encoder settings, and which ones a take uses: measured on the rig's own first frames."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.logging
import msgspec
import numpy as np

from episodes.errors import ContractError
from operators.events import Frame
from sinks.pictures import av_frame

__all__ = [
    "DEPTH_CODECS",
    "VIDEO_CODECS",
    "EncoderPlan",
    "VideoSettings",
    "choose_encoders",
    "depth_settings",
    "video_settings",
]

av.logging.set_level(None)

COLOUR_GOP = 15
DEPTH_GOP = 4
BUDGET_FREE = 2.0
"""An encoder is taken when it is at least this many times as fast as the frames come: half of its budget stays free."""
PROBE_S = 0.3
PROBE_FRAMES = 12

_MP4 = {"movflags": "hybrid_fragmented", "frag_duration": "500000", "flush_packets": "1"}
_MKV = {"cluster_time_limit": "500", "flush_packets": "1"}
# No encoder may hold frames back: no lookahead, no B-frames, no frame threads.
_X265 = "bframes=0:rc-lookahead=0:scenecut=0:frame-threads=1:pools=none:log-level=none"


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
            "x265-params": f"lossless=1:range=full:keyint={DEPTH_GOP}:min-keyint={DEPTH_GOP}:{_X265}",
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
            "x265-params": f"qp=6:range=full:keyint={DEPTH_GOP}:min-keyint={DEPTH_GOP}:{_X265}",
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


class EncoderPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Which encoder each slot uses, and why.

    Attributes:
        colour: settings of every colour slot. depth: settings by depth slot.
        selected_by: ``auto`` or the name asked for. probe: measured rates, for the episodes row.
    """

    colour: VideoSettings
    depth: dict[str, VideoSettings] = {}
    selected_by: str = "auto"
    probe: dict[str, Any] = {}

    def of(self, slot: str) -> VideoSettings:
        """The settings of a slot."""
        return self.depth.get(slot, self.colour)

    def as_json(self) -> dict[str, Any]:
        """What the episodes row keeps in ``video_codec``; no path of an executable."""
        found = {**self.colour.label, "selected_by": self.selected_by}
        if self.probe:
            found["probe"] = self.probe
        if self.depth:
            found["depth"] = {slot: settings.label for slot, settings in self.depth.items()}
        return found


def video_settings(encoder: str) -> VideoSettings:
    """The colour settings of an encoder's name.

    Raises:
        ContractError: it is not known, or not in this build of FFmpeg.
    """
    settings = VIDEO_CODECS.get(encoder)
    if settings is None:
        raise ContractError(f"video_codec {encoder!r} is none of auto, {', '.join(VIDEO_CODECS)}")
    if not _available(settings.encoder):
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


def choose_encoders(
    first_frames: Mapping[str, Frame],
    *,
    depth_slots: frozenset[str],
    fps: float,
    video_codec: str = "auto",
    depth_codec: str = "auto",
    depth_quality: str = "lossless",
    fixed_extensions: Mapping[str, str] | None = None,
) -> EncoderPlan:
    """Choose the encoders of a take.

    Every candidate is timed on the slots' own first frames, all slots at once, as they will run. ``auto`` takes the
    first of hevc_nvenc, libx265, libx264 that leaves half of its budget free, and for depth HEVC on the same terms,
    else FFV1. What a task's first episode fixed for a depth slot stays.

    Args:
        first_frames: one frame a slot. depth_slots: which of them are depth.
        fixed_extensions: slot to ``mp4`` or ``mkv``, from the task's info.json.

    Raises:
        ContractError: a codec that is not known, or another depth codec than the task's.
    """
    depth = _fixed_depth(depth_slots, depth_codec, depth_quality, fixed_extensions or {})
    open_depth = {slot for slot in depth_slots if slot not in depth}
    colour_slots = [slot for slot in first_frames if slot not in depth_slots]
    probe: dict[str, Any] = {}
    ffv1, hevc = DEPTH_CODECS["ffv1"], depth_settings("hevc", depth_quality)
    if video_codec != "auto":
        colour = video_settings(video_codec)
    else:
        colour = VIDEO_CODECS["libx264"]
        for name in ("hevc_nvenc", "libx265"):
            if not colour_slots or not _available(name):
                continue
            rates = _rates(first_frames, dict.fromkeys(colour_slots, VIDEO_CODECS[name]) | depth)
            slowest = min(rates[s] for s in colour_slots)
            passed = slowest >= BUDGET_FREE * fps
            probe[name] = {"min_fps": round(slowest, 1), "threshold_fps": BUDGET_FREE * fps, "passed": passed}
            if passed:
                colour = VIDEO_CODECS[name]
                break
    if open_depth:
        trial = dict.fromkeys(colour_slots, colour) | depth | dict.fromkeys(open_depth, hevc)
        rates = _rates(first_frames, trial)
        slowest = min(rates.values())
        passed = slowest >= BUDGET_FREE * fps
        probe["depth_hevc"] = {"min_fps": round(slowest, 1), "threshold_fps": BUDGET_FREE * fps, "passed": passed}
        depth |= dict.fromkeys(open_depth, hevc if passed else ffv1)
    return EncoderPlan(colour=colour, depth=depth, selected_by=video_codec, probe=probe)


def _fixed_depth(slots: frozenset[str], codec: str, quality: str, fixed: Mapping[str, str]) -> dict[str, VideoSettings]:
    """What is settled without measuring."""
    chosen: dict[str, VideoSettings] = {}
    for slot in slots:
        wanted = None if codec == "auto" else depth_settings(codec, quality)
        extension = fixed.get(slot)
        if extension is None:
            if wanted is not None:
                chosen[slot] = wanted
            continue
        kept = DEPTH_CODECS["ffv1"] if extension == "mkv" else depth_settings("hevc", quality)
        if wanted is not None and wanted.extension != kept.extension:
            raise ContractError(
                f"{slot}: the task's first episode stored depth as .{extension}; a slot has one depth codec a task; "
                f"leave depth_codec at auto, or record into another task"
            )
        chosen[slot] = kept
    return chosen


def _available(encoder: str) -> bool:
    try:
        av.Codec(encoder, "w")
    except ValueError:
        return False
    if not encoder.endswith("nvenc"):
        return True
    try:  # NVENC is in the build on machines without the hardware, too.
        return _rate(Frame(np.zeros((256, 256, 3), np.uint8), "rgb24", 0), VIDEO_CODECS[encoder], 3) > 0
    except Exception:  # noqa: BLE001 - whatever the driver says, it is not to be had
        return False


def _rates(frames: Mapping[str, Frame], settings: Mapping[str, VideoSettings]) -> dict[str, float]:
    """Frames a second of each slot, all at once; a slot that fails has 0."""
    rates = dict.fromkeys(settings, 0.0)

    def run(slot: str) -> None:
        try:
            rates[slot] = _rate(frames[slot], settings[slot], PROBE_FRAMES)
        except Exception:  # noqa: BLE001 - a codec that fails here is one that is not taken
            rates[slot] = 0.0

    threads = [threading.Thread(target=run, args=(slot,), name=f"probe-{slot}") for slot in settings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return rates


def _rate(frame: Frame, settings: VideoSettings, count: int) -> float:
    # Shifted pictures: an unchanged one costs an encoder next to nothing, and would flatter it.
    shifted = [np.roll(frame.image, 7 * i, axis=1) for i in range(4)]
    context = av.CodecContext.create(settings.encoder, "w")
    if not isinstance(context, av.VideoCodecContext):
        raise ContractError(f"{settings.encoder} is no video encoder")
    sample = av_frame(frame.image, frame.pix_fmt, settings.pix_fmt)
    context.width, context.height, context.pix_fmt = sample.width, sample.height, settings.pix_fmt
    context.time_base, context.framerate = Fraction(1, 30), Fraction(30)
    context.options = dict(settings.options)
    context.thread_count = 1
    start = time.perf_counter()
    done = 0
    while done < count and (done < 2 or time.perf_counter() - start < PROBE_S):
        picture = av_frame(shifted[done % 4], frame.pix_fmt, settings.pix_fmt)
        picture.pts = done
        context.encode(picture)
        done += 1
    context.encode(None)
    return done / (time.perf_counter() - start)


def staged_video(folder: Path, slot: str, settings: VideoSettings) -> Path:
    """Where a slot's file stands while it is recorded."""
    return folder / "videos" / f"{slot}.{settings.extension}"
