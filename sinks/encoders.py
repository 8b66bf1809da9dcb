"""Which encoders a take uses: measured on the rig's own first frames, or named by the rig."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from episodes.errors import ContractError
from operators.events import Frame
from sinks.encoder_probe import Rates, encoder_works, measure
from sinks.pictures import picture_size
from sinks.video_settings import (
    DEPTH_CODECS,
    VIDEO_CODECS,
    VideoSettings,
    check_size,
    depth_settings,
    video_settings,
)

__all__ = [
    "DEPTH_CODECS",
    "VIDEO_CODECS",
    "EncoderPlan",
    "VideoSettings",
    "choose_encoders",
    "depth_settings",
    "staged_video",
    "video_settings",
]

BUDGET_FREE = 2.0
"""An encoder is taken when it is at least this many times as fast as the frames come: half of its budget stays free."""

_SELECTED_BY = {"hevc_nvenc": "nvenc", "libx265": "x265", "libx264": "x264", "libsvtav1": "svtav1"}
"""What the episodes row calls the encoder that a rig named."""


class EncoderPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Which encoder each slot uses, and why.

    Attributes:
        colour: settings of every colour slot. depth: settings by depth slot.
        selected_by: ``auto``, ``nvenc``, ``x265``, ``x264`` or ``svtav1``.
        probe: the measurement that decided about colour. depth_probe: the one that decided about depth. {}: none.
    """

    colour: VideoSettings
    depth: dict[str, VideoSettings] = {}
    selected_by: str = "auto"
    probe: dict[str, Any] = {}
    depth_probe: dict[str, Any] = {}

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
        if self.depth_probe:
            found["depth_probe"] = self.depth_probe
        return found


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

    Candidates are timed on the slots' own first frames, all slots at once, as they will run; about half a second a
    candidate. ``auto`` takes the first of hevc_nvenc, libx265, libx264 that leaves half of its budget free, and for
    depth HEVC on the same terms, else FFV1. What a task's first episode fixed for a depth slot stays.

    Args:
        first_frames: one frame a slot. depth_slots: which of them are depth.
        fixed_extensions: slot to ``mp4`` or ``mkv``, from the task's info.json.

    Raises:
        ContractError: a codec that is not known, another depth codec than the task's, or pictures that cannot be
        stored.
    """
    colour_slots = frozenset(first_frames) - depth_slots
    depth = _fixed_depth(depth_slots, depth_codec, depth_quality, fixed_extensions or {})
    colour, probe = _colour(first_frames, colour_slots, depth, fps, video_codec)
    for slot in colour_slots:
        check_size(slot, colour, *picture_size(first_frames[slot].image, first_frames[slot].pix_fmt))
    depth_probe: dict[str, Any] = {}
    open_depth = depth_slots - set(depth)
    if open_depth:
        hevc = depth_settings("hevc", depth_quality)
        trial = dict.fromkeys(colour_slots, colour) | depth | dict.fromkeys(open_depth, hevc)
        rates = measure(first_frames, trial, fps)
        # Depth must not cost a colour slot its budget either, so the slowest of all decides.
        depth_probe = _probe(rates, frozenset(trial), fps)
        depth |= dict.fromkeys(open_depth, hevc if depth_probe["passed"] else DEPTH_CODECS["ffv1"])
    return EncoderPlan(
        colour=colour,
        depth=depth,
        selected_by=_SELECTED_BY.get(video_codec, video_codec),
        probe=probe,
        depth_probe=depth_probe,
    )


def staged_video(folder: Path, slot: str, settings: VideoSettings) -> Path:
    """Where a slot's file stands in the staging folder while it is recorded."""
    return folder / "videos" / f"{slot}.{settings.extension}"


def _colour(
    frames: Mapping[str, Frame], slots: frozenset[str], depth: dict[str, VideoSettings], fps: float, wanted: str
) -> tuple[VideoSettings, dict[str, Any]]:
    if wanted != "auto":
        settings = video_settings(wanted)
        if not encoder_works(wanted):
            raise ContractError(f"video_codec {wanted!r} does not work on this machine; use auto")
        return settings, {}
    probe: dict[str, Any] = {}
    if slots and encoder_works("hevc_nvenc"):
        rates = measure(frames, dict.fromkeys(slots, VIDEO_CODECS["hevc_nvenc"]) | depth, fps)
        if rates.slowest(slots) >= BUDGET_FREE * fps:
            return VIDEO_CODECS["hevc_nvenc"], {"kind": "nvenc", "ok": True}
    if slots and encoder_works("libx265"):
        rates = measure(frames, dict.fromkeys(slots, VIDEO_CODECS["libx265"]) | depth, fps)
        probe = {"kind": "x265", **_probe(rates, slots, fps)}
        if probe["passed"]:
            return VIDEO_CODECS["libx265"], probe
    return VIDEO_CODECS["libx264"], probe


def _probe(rates: Rates, slots: frozenset[str], fps: float) -> dict[str, Any]:
    slowest = rates.slowest(slots)
    return {
        "per_stream_fps": {slot: round(rates.per_slot[slot], 1) for slot in sorted(slots)},
        "min_fps": round(slowest, 1),
        "passed": slowest >= BUDGET_FREE * fps,
        "threshold_fps": BUDGET_FREE * fps,
        "streams": len(slots),
        "frames": rates.frames,
        "elapsed_s": round(rates.elapsed_s, 3),
    }


def _fixed_depth(slots: frozenset[str], codec: str, quality: str, fixed: Mapping[str, str]) -> dict[str, VideoSettings]:
    """What is settled without measuring."""
    chosen: dict[str, VideoSettings] = {}
    for slot in sorted(slots):
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
