"""One episode, read from its own files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from episodes.columns import frame_ns_column
from episodes.data_file import DataFile
from episodes.episode_row import EpisodeRow, read_episode_row
from episodes.errors import CorruptFileError, EpisodeError
from episodes.force_matrices import ForceMatrices
from episodes.force_matrix import spec_of
from episodes.frames import FRAME_AXES, LEGACY_FRAME
from episodes.inside import check_inside
from episodes.legacy import Shards, is_32_bit, unwrap_32_bit
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from episodes.trajectory import Trajectory
from episodes.video import VideoReader, probe

__all__ = ["Episode"]


class Episode:
    """One episode of a task. Nothing is opened before it is asked for, and no file is kept open.

    Which columns and slots there are is read from the episode's own files: info.json speaks of the whole task, and
    only says what a column means.

    Raises:
        CorruptFileError: from whatever touches a damaged file; it names the file.
    """

    def __init__(self, paths: TaskPaths, info: Mapping[str, Any], number: EpisodeNumber, shards: Shards) -> None:
        self._paths = paths
        self._info = info
        self._shards = shards
        self.number = number

    @property
    def k(self) -> int:
        """The 0-based number, which names the files."""
        return self.number.k

    @property
    def n(self) -> int:
        """The 1-based number, the column ``episode_index``."""
        return self.number.n

    @property
    def fps(self) -> float:
        """Rows and frames a second."""
        fps = self._info.get("fps")
        if isinstance(fps, bool) or not isinstance(fps, (int, float)) or not 0 < fps <= 1000:
            raise CorruptFileError(self._paths.info, f"fps is {fps!r}, no rate that can be")
        return float(fps)

    @cached_property
    def data_path(self) -> Path:
        """The data parquet file; of an old task it may be a shard."""
        path = self._paths.data(self.number)
        return path if path.exists() else self._shards.data.get(self.number, path)

    @cached_property
    def row_path(self) -> Path:
        """The file of the episodes row; of an old task it may be a shard."""
        path = self._paths.episode_row(self.number)
        return path if path.exists() else self._shards.rows.get(self.number, path)

    @cached_property
    def data(self) -> DataFile:
        """The data parquet file, opened for its schema and its rows."""
        check_inside(self._paths.task_dir, self.data_path)
        shard = self.data_path != self._paths.data(self.number)
        return DataFile(self.data_path, self.number if shard else None)

    @cached_property
    def row(self) -> EpisodeRow:
        """The episodes row: length, drop_stats, video_codec, calibration, specs, clock."""
        check_inside(self._paths.task_dir, self.row_path)
        return read_episode_row(self.row_path, self.number)

    @property
    def length(self) -> int:
        """Rows; equally frames of every slot."""
        return self.data.length

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of this episode, from its own parquet schema."""
        return tuple(self.data.columns)

    @property
    def heavy_columns(self) -> tuple[str, ...]:
        """The force matrices, which `rows` gives only when they are named."""
        return self.data.heavy

    @property
    def warnings(self) -> tuple[str, ...]:
        """What had to be understood in a way that may be wrong; only old data has any."""
        fold = self.data.fold
        if not fold.disagreeing:
            return ()
        differing = f"{fold.disagreeing} frames have several rows that differ in their time"
        return (f"{self.data_path}: {differing}; the first row of each is kept",)

    def rows(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows, one a tick.

        Args:
            columns: which; None: all but the force matrices, of which a minute takes gigabytes. Where those are named
                they come in chunks, which must not be combined (list offsets of 32 bits).

        Raises:
            EpisodeError: a column that the episode does not have.
        """
        wanted = [name for name in self.columns if name not in self.heavy_columns] if columns is None else list(columns)
        missing = [name for name in wanted if name not in self.columns]
        if missing:
            raise EpisodeError(f"episode {self.k}: no column {', '.join(missing)}; it has {', '.join(self.columns)}")
        table = self.data.read(wanted)
        if "hardware_ns" in wanted and is_32_bit(self.data.int64("hardware_ns")):
            place = wanted.index("hardware_ns")
            table = table.set_column(place, "hardware_ns", pa.array(self.hardware_ns, pa.int64()))
        return table

    @cached_property
    def hardware_ns(self) -> NDArray[np.int64]:
        """[length] int64, the master slot's capture times, host monotonic clock; 0 = no stamp.

        Old stamps that were cut to 32 bits come unwrapped: their differences are right, their origin is lost.
        """
        stamps = self.data.int64("hardware_ns")
        return unwrap_32_bit(stamps) if is_32_bit(stamps) else stamps

    @cached_property
    def videos(self) -> dict[str, Path]:
        """Slot to video file, as they stand on disk."""
        return dict(sorted({**self._shards.videos(self.number), **self._paths.videos(self.number)}.items()))

    @property
    def slots(self) -> tuple[str, ...]:
        """The video slots of this episode, from its own files."""
        return tuple(self.videos)

    def kind(self, slot: str) -> Literal["rgb", "depth"]:
        """What a slot holds: info declares colour slots in ``cameras``, depth slots in ``video_extensions`` alone."""
        cameras, extensions = self._info.get("cameras"), self._info.get("video_extensions")
        if isinstance(cameras, dict) and slot in cameras:
            return "rgb"
        if isinstance(extensions, dict) and slot in extensions:
            return "depth"
        path = self._slot_path(slot)
        try:
            probe(path, kind="depth")
        except CorruptFileError:
            return "rgb"
        return "depth"

    def video(self, slot: str) -> VideoReader:
        """The frames of a colour slot, [height, width, 3] uint8 rgb; frame i is row i.

        Raises:
            EpisodeError: no such slot, or one of depth.
        """
        path = self._slot_path(slot)
        if self.kind(slot) != "rgb":
            raise EpisodeError(f"episode {self.k}: slot {slot!r} holds depth; read it with depth({slot!r})")
        return VideoReader(path, kind="rgb")

    def depth(self, slot: str) -> VideoReader:
        """The frames of a depth slot, [height, width] uint16 mm, 0 = invalid; frame i is row i.

        Raises:
            EpisodeError: no such slot, or one of colour.
        """
        path = self._slot_path(slot)
        if self.kind(slot) != "depth":
            raise EpisodeError(f"episode {self.k}: slot {slot!r} holds colour; read it with video({slot!r})")
        return VideoReader(path, kind="depth")

    def frame_ns(self, slot: str) -> NDArray[np.int64]:
        """[length] int64: the capture time of each frame of a slot, host monotonic clock; 0 = no stamp.

        The master slot's is ``hardware_ns``, every other slot has a column of its own. An old episode has but one
        series, that of the slot that was written first, and ``depth_ns`` for its depth.

        Raises:
            EpisodeError: no such slot.
        """
        self._slot_path(slot)
        column = self._frame_ns_column(slot)
        if column is not None:
            return self.data.int64(column)
        if "depth_ns" in self.columns and not self._has_frame_ns and self.kind(slot) == "depth":
            return self.data.int64("depth_ns")
        return self.hardware_ns

    def stamps(self, column: str) -> NDArray[np.int64]:
        """[length] int64: when the sample of each row of ``column`` was taken, host monotonic clock; 0 = no stamp.

        Raises:
            EpisodeError: the column has no stamps, or is a trajectory, whose stamps `trajectories` gives.
        """
        name = f"{column}_ns"
        if column.endswith("slam_trajectory"):
            raise EpisodeError(f"{column}: a trajectory has a stamp a point; see trajectories[{column!r}].host_ns")
        if name not in self.columns:
            raise EpisodeError(f"episode {self.k}: no column {name}, so the samples of {column} have no stamps")
        return self.data.int64(name)

    @cached_property
    def trajectories(self) -> dict[str, Trajectory]:
        """The trajectories of this episode by column, in the order of the columns."""
        return {name: self._trajectory(name) for name in self.columns if name.endswith("slam_trajectory")}

    def force_matrix(self, column: str) -> ForceMatrices:
        """The matrices of a column, row by row, [250, 250, 3] float32, mN.

        The episode's own ``force_matrix_specs`` say how they are coded, else the task's features, else scale 1.

        Raises:
            EpisodeError: no such column.
        """
        if column not in self.heavy_columns:
            raise EpisodeError(f"episode {self.k}: {column!r} is none of its force matrices {self.heavy_columns}")
        spec = spec_of(column, self.row.force_matrix_specs, self._features)
        return ForceMatrices(self.data_path, column, spec, self.data.fold.rows, self.length)

    def unix_time(self, ns: ArrayLike) -> NDArray[np.float64]:
        """Unix seconds of host monotonic stamps, from the pair that was read at the start; NaN for 0, no stamp.

        Raises:
            EpisodeError: an old episode, which has no such pair.
        """
        mono, wall = self.clock.get("mono_ns"), self.clock.get("wall_s")
        if isinstance(mono, bool) or not isinstance(mono, int) or not isinstance(wall, (int, float)):
            raise EpisodeError(f"episode {self.k}: its row has no clock pair, so stamps have no Unix time")
        stamps = np.asarray(ns, np.int64)
        times: NDArray[np.float64] = float(wall) + (stamps - np.int64(mono)) / 1e9
        return np.where(stamps == 0, np.nan, times)

    @property
    def drop_stats(self) -> dict[str, Any]:
        """What was lost, repeated, late; see `episodes.drop_stats`."""
        return self.row.drop_stats

    @property
    def clock(self) -> dict[str, Any]:
        """``mono_ns`` and ``wall_s``, read together at the start; {} in old episodes."""
        return self.row.clock

    @property
    def _features(self) -> Mapping[str, Any]:
        found = self._info.get("features")
        return found if isinstance(found, dict) else {}

    @property
    def _has_frame_ns(self) -> bool:
        return any(name.endswith("_frame_ns") for name in self.columns)

    def _frame_ns_column(self, slot: str) -> str | None:
        declared = [
            name
            for name in self.columns
            if name.endswith("_frame_ns")
            and isinstance(self._features.get(name), dict)
            and self._features[name].get("slot") == slot
        ]
        name = declared[0] if declared else frame_ns_column(slot)
        return name if name in self.columns else None

    def _slot_path(self, slot: str) -> Path:
        path = self.videos.get(slot)
        if path is None:
            raise EpisodeError(f"episode {self.k}: no video slot {slot!r}; it has {', '.join(self.slots) or 'none'}")
        check_inside(self._paths.task_dir, path)
        return path

    def _trajectory(self, column: str) -> Trajectory:
        values, counts = self.data.lists(column)
        if (counts % 8).any():
            raise CorruptFileError(self.data_path, f"{column}: a row's length is no multiple of 8")
        points = np.asarray(values, np.float64).reshape(-1, 8)
        per_row = counts // 8
        spec = self.row.slam_specs.get(column) or self._features.get(column)
        spec = dict(spec) if isinstance(spec, dict) else {}
        frame = str(spec.get("frame") or LEGACY_FRAME)
        axes = spec.get("frame_axes") or FRAME_AXES.get(frame, {})
        return Trajectory(
            column=column,
            points=points,
            host_ns=self._point_stamps(column, per_row),
            rows=np.repeat(np.arange(len(counts)), per_row),
            frame=frame,
            frame_axes=dict(axes) if isinstance(axes, dict) else {},
            spec={key: spec[key] for key in ("frame", "frame_axes", "time", "owner", "source_slot") if key in spec},
        )

    def _point_stamps(self, column: str, per_row: NDArray[np.int64]) -> NDArray[np.int64] | None:
        name = f"{column}_ns"
        if name not in self.columns:
            return None
        stamps, counts = self.data.lists(name)
        # Old files have rows of points with no list of stamps at all; a list of another length is damage.
        if ((counts != per_row) & (counts != 0)).any():
            raise CorruptFileError(self.data_path, f"{name}: a row has another number of stamps than of points")
        filled = np.zeros(int(per_row.sum()), np.int64)
        filled[np.repeat(counts == per_row, per_row)] = stamps
        return filled
