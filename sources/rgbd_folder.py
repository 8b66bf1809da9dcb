"""rgbd_folder: a folder of colour and depth pictures, played as a live device."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import reactivex as rx
from numpy.typing import NDArray

from operators.errors import DeviceError
from operators.events import Event, Frame
from sources.device_thread import Emit, device_thread
from sources.pace import wait_until
from sources.picture_file import read_picture

__all__ = ["COLOR_PORT", "DEPTH_PORT", "RgbdPair", "list_pairs", "rgbd_folder"]

COLOR_PORT, DEPTH_PORT = "color", "depth"

COLOR_ENDS = (".jpg", ".jpeg", ".png")
DEPTH_ENDS = (".png",)


@dataclass(frozen=True, slots=True)
class RgbdPair:
    """One moment of a folder: the two files that share a stem."""

    color: Path
    depth: Path


def list_pairs(path: Path, *, key: str) -> list[RgbdPair]:
    """The pairs of ``color/`` and ``depth/``, in the order of their names.

    Raises:
        DeviceError: a folder is missing or empty, or a picture has no partner; the file is named.
    """
    color = _by_stem(path, "color", COLOR_ENDS, key)
    depth = _by_stem(path, "depth", DEPTH_ENDS, key)
    for stem in sorted(color.keys() ^ depth.keys()):
        found = color.get(stem) or depth[stem]
        other = "depth" if stem in color else "color"
        raise DeviceError(
            key, f"{found.parent.name}/{found.name} has no partner in {other}/; add it or remove the file"
        )
    return [RgbdPair(color[stem], depth[stem]) for stem in sorted(color, key=_natural)]


def rgbd_folder(path: Path, *, fps: float = 30.0, key: str) -> rx.Observable[Event]:
    """Play a folder at its rate, as a live camera would send it; completes behind the last pair.

    Ports ``color`` (bgr24) and ``depth`` (gray16le, mm, 0 = invalid); the two frames of a pair have the same
    ``frameset`` and ``seq``, the pair's number in the folder, and both are stamped when the pair was due to be sent.

    A file that cannot be used fails the device and is named; subscribed again, it goes on behind that pair, so one bad
    file costs one pair. A folder that is too slow to be read does not skip pairs, it plays slower.

    Raises:
        DeviceError: through ``on_error``; see above, and `list_pairs`.
    """
    if not 0 < fps <= 1000:
        raise DeviceError(key, f"fps {fps} is not in 0 to 1000")
    position = [0]
    sizes: dict[str, tuple[int, int]] = {}

    def read(emit: Emit, stop: threading.Event) -> None:
        pairs = list_pairs(path, key=key)
        first = position[0]
        start_ns = time.monotonic_ns()
        for number in range(first, len(pairs)):
            # Counted before it is read: whoever subscribes again after a bad file goes on behind it.
            position[0] = number + 1
            color, depth = _read_pair(pairs[number], sizes, key)
            if not wait_until(start_ns + round((number - first) * 1e9 / fps), stop):
                return
            host_ns = time.monotonic_ns()
            # Depth first: its colour frame must find it, also when a tick falls between the two.
            emit(Event(DEPTH_PORT, Frame(depth, "gray16le", host_ns, seq=number, frameset=number, ts_src=3)))
            emit(Event(COLOR_PORT, Frame(color, "bgr24", host_ns, seq=number, frameset=number, ts_src=3)))
        # The last pair stays for its period, like any other.
        wait_until(start_ns + round((len(pairs) - first) * 1e9 / fps), stop)

    return device_thread(key, read)


def _by_stem(path: Path, name: str, ends: tuple[str, ...], key: str) -> dict[str, Path]:
    folder = path / name
    found: dict[str, Path] = {}
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise DeviceError(
            key, f"{name}/ cannot be read: {error.strerror}; give a folder with color/ and depth/"
        ) from None
    for entry in entries:
        if entry.name.startswith(".") or entry.suffix.lower() not in ends or not entry.is_file():
            continue
        if entry.stem in found:
            raise DeviceError(key, f"{name}/{entry.name} and {name}/{found[entry.stem].name} are one picture twice")
        found[entry.stem] = entry
    if not found:
        raise DeviceError(key, f"{name}/ has no picture ({', '.join(ends)})")
    return found


def _natural(stem: str) -> tuple[int, float, str]:
    """Numbered names in the order of their numbers, whether padded or not; then the others by name."""
    try:
        return (0, float(stem), stem)
    except ValueError:
        return (1, 0.0, stem)


def _read_pair(pair: RgbdPair, sizes: dict[str, tuple[int, int]], key: str) -> tuple[NDArray[Any], NDArray[Any]]:
    color = read_picture(pair.color, colour=True, key=key)
    depth = read_picture(pair.depth, colour=False, key=key)
    if depth.ndim != 2 or depth.dtype != np.uint16:
        found = f"{depth.dtype}{list(depth.shape)}"
        raise DeviceError(key, f"depth/{pair.depth.name} is {found}; 16-bit grey, mm, is needed")
    for file, image in ((pair.color, color), (pair.depth, depth)):
        folder, (height, width) = file.parent.name, image.shape[:2]
        wanted = sizes.setdefault(folder, (height, width))
        if (height, width) != wanted:
            raise DeviceError(
                key, f"{folder}/{file.name} is {width}×{height}, the pictures before it are {wanted[1]}×{wanted[0]}"
            )
    return color, depth
