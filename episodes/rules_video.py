"""Rules of the videos: frames against rows, times, coding; deep: every frame."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from episodes.depth_codec import CODE_MAX
from episodes.errors import EpisodeError
from episodes.inside import check_inside
from episodes.video import VideoInfo, VideoReader, probe
from episodes.views import EpisodeView

__all__ = ["check_videos"]

KEY_FRAMES = 15
BEYOND_SHARE = 0.001
_COLOUR = (
    "yuv420p",
    "yuvj420p",
    "yuv422p",
    "yuvj422p",
    "yuv444p",
    "yuvj444p",
    "nv12",
    "gbrp",
    "rgb24",
    "bgr24",
    "gray",
)
_DEPTH = {"mp4": ("hevc", "gray12le"), "mkv": ("ffv1", "gray16le")}


def check_videos(view: EpisodeView) -> None:
    """Every slot of the episode."""
    extensions = view.task.mapping("video_extensions")
    videos = view.episode.videos
    for slot in _declared_slots(view):
        if slot not in videos:
            view.add("video.missing", view.task.path / "videos", f"slot {slot!r} has a column of times and no video")
    if view.columns and not videos and view.task.mapping("cameras") and not view.old:
        view.add("video.missing", view.task.path / "videos", "the task has cameras, this episode has no video")
    for slot, path in videos.items():
        declared = extensions.get(slot)
        if declared != path.suffix[1:]:
            view.add("video.extension", path, f"video_extensions says {declared!r} of slot {slot!r}")
        _check_video(view, slot, path)


def _check_video(view: EpisodeView, slot: str, path: Path) -> None:
    try:
        check_inside(view.task.path, path)
        kind = view.episode.kind(slot)
        found = probe(path, kind=kind)
    except EpisodeError as error:
        view.add("video.corrupt", path, str(error).removeprefix(f"{path}: "))
        return
    _check_coding(view, path, kind, found)
    if view.data is not None and found.frames != view.data.length:
        rows = view.data.length
        view.add("video.rows", path, f"has {found.frames} frames, the episode has {rows} rows", view.milder)
    _check_grid(view, slot, path, found)
    if found.key_distance_max > KEY_FRAMES:
        view.add("video.key-frames", path, f"has {found.key_distance_max} frames from one key frame to the next")
    camera = view.task.mapping("cameras").get(slot)
    if isinstance(camera, dict) and (camera.get("height"), camera.get("width")) != (found.height, found.width):
        declared = f"{camera.get('width')}×{camera.get('height')}"
        view.add("video.size", path, f"is {found.width}×{found.height}, cameras says {declared}")
    _check_frames(view, path, kind, found)


def _check_coding(view: EpisodeView, path: Path, kind: str, found: VideoInfo) -> None:
    if kind == "depth":
        wanted = _DEPTH.get(path.suffix[1:])
        if wanted != (found.codec, found.pix_fmt):
            view.add("video.coding", path, f"depth is {found.codec} {found.pix_fmt}, not {wanted}")
    elif found.pix_fmt not in _COLOUR:
        view.add("video.coding", path, f"colour is {found.codec} {found.pix_fmt}")


def _check_grid(view: EpisodeView, slot: str, path: Path, found: VideoInfo) -> None:
    camera = view.task.mapping("cameras").get(slot)
    own = camera.get("fps") if isinstance(camera, dict) else None
    fps = float(own) if isinstance(own, (int, float)) and 0 < own <= 1000 else view.fps
    if fps is None or not found.frames:
        return
    at = found.first_off_grid(fps)
    if at is not None:
        shown = f"frame {at} is shown at {found.times_s[at]:.6f} s, not {at / fps:.6f}"
        view.add("video.grid", path, shown, view.milder)


def _check_frames(view: EpisodeView, path: Path, kind: Literal["rgb", "depth"], found: VideoInfo) -> None:
    """Decode: all frames where deep, else the first, and how much depth lies at the end of the codes."""
    coded = kind == "depth" and found.pix_fmt == "gray12le"
    count = found.frames if view.task.deep else min(1, found.frames)
    beyond, worst = 0, 0.0
    try:
        with VideoReader(path, kind=kind) as reader:
            for i in range(count):
                if coded:
                    share = float((reader.codes(i) >= CODE_MAX).mean())
                    beyond += share > BEYOND_SHARE
                    worst = max(worst, share)
                else:
                    reader[i]
    except EpisodeError as error:
        view.add("video.decode", path, str(error).removeprefix(f"{path}: "))
    if beyond:
        view.add(
            "depth.beyond", path, f"{beyond} of {count} frames have depth beyond 5 m, up to {worst:.1%} of a frame"
        )


def _declared_slots(view: EpisodeView) -> list[str]:
    """The slots that the episode's ``_frame_ns`` columns speak of."""
    features = [view.features.get(name) for name in view.columns if name.endswith("_frame_ns")]
    slots = [feature.get("slot") for feature in features if isinstance(feature, dict)]
    return [slot for slot in slots if isinstance(slot, str)]
