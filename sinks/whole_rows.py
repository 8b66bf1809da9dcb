"""How much of a staging folder is whole, and cutting its files to that."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from episodes.columns import columns_of
from episodes.errors import EpisodeError
from episodes.naming import check_slot
from episodes.staging import Manifest
from sinks.durable import Disk
from sinks.heavy_chunks import RowGroup, read_row_groups
from sinks.journal import read_journal
from sinks.video_trim import readable_frames, trim_video

__all__ = ["NothingWholeError", "WholeRows", "cut_videos", "staged_videos", "whole_rows"]

EXTENSIONS = ("mp4", "mkv")


class NothingWholeError(EpisodeError):
    """Not one row of the take is whole on the disk."""


@dataclass(frozen=True, slots=True)
class WholeRows:
    """What is whole of a take.

    Attributes:
        rows: that the journal, the heavy columns and every video have. journal: of just these rows.
        groups: row groups of the heavy columns, of just these rows. counters: the newest running counters.
        recorded: rows that the journal knows of. frames: slot to frames in its file.
        heavy_rows: of the heavy columns, uncut; None without matrices. heavy_end: the place behind them, and the CRC-32
            of the file up to there.
    """

    rows: int
    journal: pa.Table
    groups: list[RowGroup]
    counters: dict[str, int]
    recorded: int
    frames: dict[str, int]
    heavy_rows: int | None
    heavy_end: tuple[int, int] | None

    @property
    def shortest(self) -> str:
        """What ends first, in words."""
        ends = {"the journal": self.recorded, **self.frames}
        if self.heavy_rows is not None:
            ends["the force matrices"] = self.heavy_rows
        name = min(ends, key=lambda key: ends[key])
        return f"{name} has {ends[name]} of {max(ends.values())}"


def staged_videos(staging: Path, manifest: Manifest) -> dict[str, Path]:
    """Slot to its file in staging.

    Raises:
        EpisodeError: the manifest's slots and extensions are none that can be.
    """
    found: dict[str, Path] = {}
    for video in manifest.declaration.videos:
        check_slot(video.slot)
        extension = manifest.extensions.get(video.slot, "")
        if extension not in EXTENSIONS or video.slot not in manifest.sizes:
            raise EpisodeError(f"{staging}: its manifest does not say how {video.slot} was stored")
        found[video.slot] = staging / "videos" / f"{video.slot}.{extension}"
    return found


def whole_rows(staging: Path, manifest: Manifest, *, verify: bool) -> WholeRows:
    """Measure a staging folder; no file is changed.

    Args:
        verify: read the heavy chunks, and decode the videos' ends; for what another process left.

    Raises:
        NothingWholeError: no row is whole. CorruptFileError: a file is not what the manifest says.
    """
    videos = staged_videos(staging, manifest)

    def frames(slot: str) -> int:
        return readable_frames(videos[slot], closed=slot in manifest.closed and not verify)

    # Counting reads every packet; FFmpeg does so beside the interpreter's lock.
    with ThreadPoolExecutor(max_workers=max(1, len(videos))) as pool:
        counts = dict(zip(videos, pool.map(frames, videos), strict=True))
    found = read_journal(staging, manifest.declaration)
    recorded = found.table.num_rows
    rows = min([recorded, *counts.values()])
    heavy_rows: int | None = None
    heavy_end: tuple[int, int] | None = None
    groups: list[RowGroup] = []
    heavy = [c.name for c in columns_of(manifest.declaration.streams, master=manifest.declaration.master) if c.heavy]
    if heavy:
        groups = read_row_groups(staging, heavy, verify=verify)
        heavy_rows = sum(group.rows for group in groups)
        heavy_end = (groups[-1].end, groups[-1].crc32) if groups else None
        rows = min(rows, heavy_rows)
        groups = _cut_groups(groups, rows)
    whole = WholeRows(rows, found.table.slice(0, rows), groups, found.counters, recorded, counts, heavy_rows, heavy_end)
    if rows == 0:
        raise NothingWholeError(f"{staging}: no row is whole: {whole.shortest} rows")
    return whole


def cut_videos(staging: Path, manifest: Manifest, whole: WholeRows, disk: Disk) -> None:
    """Make every video an ordinary file of as many frames as there are whole rows; one that is so already stays.

    Raises:
        CorruptFileError: a file cannot be cut.
    """
    for slot, path in staged_videos(staging, manifest).items():
        if whole.frames[slot] == whole.rows and manifest.closed.get(slot) == whole.rows:
            continue
        cut = path.with_name(f"{slot}.cut.{path.suffix.removeprefix('.')}")
        trim_video(path, cut, whole.rows, manifest.declaration.fps)
        disk.sync(cut)
        disk.rename(cut, path)


def _cut_groups(groups: list[RowGroup], rows: int) -> list[RowGroup]:
    kept: list[RowGroup] = []
    for group in groups:
        if rows <= 0:
            break
        kept.append(group if group.rows <= rows else group.cut(rows))
        rows -= kept[-1].rows
    return kept
