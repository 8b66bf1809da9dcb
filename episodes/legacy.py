"""Reading old data: what the first releases wrote otherwise, and how it is understood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from episodes.errors import CorruptFileError, EpisodeError
from episodes.inside import check_inside
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths

__all__ = ["Fold", "Shards", "fold_rows", "glove_devices", "is_32_bit", "is_abolished", "unwrap_32_bit"]

_SHARD = re.compile(r"file-(\d{1,9})\.parquet", re.ASCII)
_CHUNK = re.compile(r"chunk-(\d{1,9})", re.ASCII)
_GLOVE_KINDS = ("data_ble", "ble_glove", "usb_glove")


def is_abolished(column: str) -> bool:
    """``slam_pose`` was padded with zeros that read as real poses: it is ignored."""
    return column.endswith("slam_pose")


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Which rows of a file are the episode's rows.

    Attributes:
        rows: [n] int64, the row of the file that is row i; None: every row, in order.
        dropped: rows of the file that are not the episode's. disagreeing: frames whose rows differed in their stamps.
    """

    rows: NDArray[np.int64] | None
    dropped: int = 0
    disagreeing: int = 0


def fold_rows(frame_index: NDArray[np.int64], timestamp: NDArray[np.float32], hardware_ns: NDArray[np.int64]) -> Fold:
    """Fold the rows of a file that has one row a slot and frame into one row a frame: the first of each frame.

    Rows that share their frame number without sharing timestamp and hardware_ns are not the same moment; the first is
    kept all the same, and they are counted. A file without a doubled number is left as it stands, holes included.
    """
    order = np.argsort(frame_index, kind="stable")
    ordered = frame_index[order]
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    if first.all():
        return Fold(None)
    rows = order[first].astype(np.int64)
    leader = rows[np.cumsum(first) - 1]
    differs = (timestamp[order] != timestamp[leader]) | (hardware_ns[order] != hardware_ns[leader])
    disagreeing = len(np.unique(ordered[differs]))
    return Fold(rows, dropped=len(frame_index) - len(rows), disagreeing=disagreeing)


def is_32_bit(hardware_ns: NDArray[np.int64]) -> bool:
    """Whether stamps were cut to signed 32 bits when they were written: a saw-tooth every 4.295 s."""
    if len(hardware_ns) == 0 or not hardware_ns.any():
        return False
    low, high = int(hardware_ns.min()), int(hardware_ns.max())
    return low >= -(2**31) and high < 2**31 and (low < 0 or high - low > 2**31)


def unwrap_32_bit(hardware_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Stamps that were cut to signed 32 bits, made continuous from the first one on; 0 stays 0, no stamp.

    Only for stamps of `is_32_bit`: whole ones have real holes, which this would fold up. Differences are right, the
    origin is lost.
    """
    known = np.flatnonzero(hardware_ns)
    unwrapped = np.zeros(len(hardware_ns), np.int64)
    if len(known) == 0:
        return unwrapped
    stamps = hardware_ns[known]
    steps = (np.diff(stamps) + 2**31) % 2**32 - 2**31
    unwrapped[known] = stamps[0] + np.concatenate([[0], np.cumsum(steps)])
    return unwrapped


def glove_devices(info: Mapping[str, Any]) -> dict[str, str]:
    """Sensor column (``left_glove``) to device key, from the forms of either program.

    ``sensor_column`` where the entry has one; else the sensor among its ``slots``; else, for an entry that says
    neither, the side that its name ends in.
    """
    devices = info.get("devices")
    sensors = info.get("sensors")
    names = [name for name in sensors if isinstance(name, str)] if isinstance(sensors, list) else []
    found: dict[str, str] = {}
    for device in devices if isinstance(devices, list) else []:
        if not isinstance(device, dict) or device.get("kind") not in _GLOVE_KINDS:
            continue
        sensor = _sensor_of(device, names)
        if sensor is not None and isinstance(device.get("key"), str):
            found.setdefault(sensor, device["key"])
    return found


def _sensor_of(device: Mapping[str, Any], sensors: Iterable[str]) -> str | None:
    column = device.get("sensor_column")
    if isinstance(column, str) and column:
        return column
    slots = device.get("slots")
    for sensor in sensors:
        if isinstance(slots, list) and sensor in slots:
            return sensor
    name = str(device.get("name", "")).lower()
    for sensor in sensors:
        if name.endswith((f"_{sensor.removesuffix('_glove')}", sensor)):
            return sensor
    return None


class Shards:
    """The ``file-NNN`` files of the first pooled releases: episodes rows, and data, of one or of many episodes.

    Every shard is looked through once, when the first question is asked.
    """

    def __init__(self, paths: TaskPaths) -> None:
        self._paths = paths

    @cached_property
    def data(self) -> dict[EpisodeNumber, Path]:
        """Number to the shard that holds its rows."""
        return self._index(self._paths.task_dir / "data")

    @cached_property
    def rows(self) -> dict[EpisodeNumber, Path]:
        """Number to the shard that holds its episodes row."""
        return self._index(self._paths.task_dir / "meta" / "episodes")

    def videos(self, number: EpisodeNumber) -> dict[str, Path]:
        """The video files of an episode by the old name, by slot."""
        c, f = number.chunk_file(self._paths.chunks_size)
        chunk = self._paths.task_dir / "videos" / f"chunk-{c:03d}"
        found: dict[str, Path] = {}
        for slot in sorted(chunk.iterdir()) if chunk.is_dir() else []:
            for extension in ("mp4", "mkv"):
                path = slot / f"file-{f:03d}.{extension}"
                if path.is_file():
                    found.setdefault(slot.name, path)
        return found

    def files(self) -> list[Path]:
        """Every shard of rows or data."""
        return [path for top in ("data", "meta/episodes") for path in self._files(self._paths.task_dir / top)]

    def _files(self, folder: Path) -> list[Path]:
        return sorted(
            path
            for path in folder.glob("chunk-*/file-*.parquet")
            if _SHARD.fullmatch(path.name) and _CHUNK.fullmatch(path.parent.name)
        )

    def _index(self, folder: Path) -> dict[EpisodeNumber, Path]:
        found: dict[EpisodeNumber, Path] = {}
        for path in self._files(folder):
            try:
                check_inside(self._paths.task_dir, path)
                with pq.ParquetFile(path) as file:
                    column = file.read(columns=["episode_index"]).column(0)
                for n in column.unique().to_pylist():
                    found.setdefault(EpisodeNumber.from_n(int(n)), path)
            except (EpisodeError, CorruptFileError, OSError, pa.ArrowException, ValueError, IndexError, TypeError):
                # A damaged shard holds no episode that could be read; the validator names it.
                continue
        return found
