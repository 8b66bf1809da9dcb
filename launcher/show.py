"""``rigflow show``: a task and its episodes, or one episode in full."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from episodes.drop_stats import total_lost
from episodes.episode import Episode
from episodes.errors import EpisodeError, UnknownFormatError
from episodes.paths import TaskPaths
from episodes.reader import Task, open_task
from episodes.video import probe
from launcher.tasks_below import tasks_below
from launcher.words import UsageError, printable

__all__ = ["show_episode", "show_tasks"]

MB = 1e6


def show_tasks(path: Path) -> None:
    """Print one task or all tasks below ``path``, each with a table of its episodes.

    Raises:
        UsageError: no task there.
    """
    console = Console(highlight=False)
    for at in tasks_below(path):
        paths = TaskPaths(at)
        if not paths.info.exists():
            words = f"  {printable(str(at))}\nno episode yet; being recorded now, or left behind for `rigflow recover`"
            console.print(Text.assemble((printable(at.name), "bold"), words))
            continue
        try:
            console.print(_task(open_task(at)))
        except UnknownFormatError as error:
            console.print(Text(printable(str(error)), "red"))


def show_episode(path: Path, k: int) -> None:
    """Print what one episode holds: its videos, columns, trajectories, and what was lost.

    Raises:
        UsageError: no such task or episode. EpisodeError: its files cannot be read.
    """
    tasks = tasks_below(path)
    if len(tasks) > 1:
        raise UsageError(f"{path} holds {len(tasks)} tasks; an episode is shown of one of them")
    task = open_task(tasks[0])
    if k not in [number.k for number in task.numbers()]:
        known = ", ".join(str(number.k) for number in task.numbers()) or "none"
        raise UsageError(f"{task.path}: no episode {k}; there are: {known}")
    Console(highlight=False).print(_episode(task, task.episode(k)))


def _task(task: Task) -> RenderableType:
    table = _table()
    for name in ("k", "rows", "seconds", "videos", "lost", "skipped", "repeats", "MB"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("recorded", no_wrap=True)
    episodes = task.episodes
    damaged: list[Text] = []
    for episode in episodes:
        try:
            table.add_row(*_episode_cells(episode))
        except EpisodeError as error:
            table.add_row(Text(str(episode.k), "bold"), *["–"] * 8)
            damaged.append(Text(printable(str(error)), "red"))
    title = Text.assemble((printable(task.name), "bold"), f"  {printable(str(task.path))}")
    plural = "" if len(episodes) == 1 else "s"
    facts = Text(f"{len(episodes)} episode{plural}, {task.info.get('fps')} rows a second", "dim")
    parts: list[RenderableType] = [title, facts, table, *damaged]
    left = len(task.paths.stagings())
    if left:
        note = f"{left} not committed: being recorded now, or left behind for `rigflow recover`"
        parts.append(Text(note, "yellow"))
    return Group(*parts)


def _episode_cells(episode: Episode) -> list[Text]:
    row, stats = episode.row, episode.drop_stats
    lost = total_lost(stats)
    skipped = int(stats.get("tick_skip_count", 0))
    repeats = sum(int(value) for key, value in stats.items() if key.endswith("_repeat_count"))
    size = sum(path.stat().st_size for path in (*episode.videos.values(), episode.data_path))
    return [
        Text(str(episode.k), "bold"),
        Text(str(row.length)),
        Text(f"{row.duration_sec:.1f}"),
        Text(str(len(episode.slots))),
        Text(str(lost), "yellow" if lost else ""),
        Text(str(skipped), "yellow" if skipped else ""),
        Text(str(repeats), "yellow" if repeats else ""),
        Text(f"{size / MB:.1f}"),
        Text(_moment(row.created_at), "dim"),
    ]


def _episode(task: Task, episode: Episode) -> RenderableType:
    row = episode.row
    facts = Text(
        f"{row.length} rows at {episode.fps:g} a second, {row.duration_sec:.2f} s, recorded {_moment(row.created_at)}"
    )
    parts: list[RenderableType] = [facts, _videos(episode), _columns(episode)]
    if episode.trajectories:
        parts.append(_trajectories(episode))
    stats = {key: n for key, n in sorted(episode.drop_stats.items()) if n}
    words = ", ".join(f"{printable(key)} {value}" for key, value in stats.items()) or "nothing lost or repeated"
    parts.append(Text(f"drop_stats: {words}", "yellow" if total_lost(episode.drop_stats) else "dim"))
    parts += [Text(f"! {printable(warning)}", "yellow") for warning in episode.warnings]
    title = Text.assemble(("episode ", "bold"), (str(episode.k), "bold"), (f" of {printable(task.name)}", "bold"))
    return Group(Text.assemble(title, f"  {printable(str(episode.data_path))}"), *parts)


def _videos(episode: Episode) -> RenderableType:
    table = _table("video", "kind", "size", "frames", "codec", "pixels", "MB")
    for slot, path in episode.videos.items():
        kind = episode.kind(slot)
        video = probe(path, kind=kind)
        table.add_row(
            slot,
            kind,
            f"{video.width}×{video.height}",
            Text(str(video.frames), "" if video.frames == episode.length else "red"),
            video.codec,
            video.pix_fmt,
            f"{path.stat().st_size / MB:.2f}",
        )
    return table


def _columns(episode: Episode) -> RenderableType:
    table = _table("column", "type")
    for name in episode.columns:
        table.add_row(printable(name), _type_words(episode.data.schema.field(name).type))
    return table


def _type_words(kind: pa.DataType) -> str:
    """``float32[256]``, ``list of float32[6]``: what a person calls an Arrow type."""
    if pa.types.is_fixed_size_list(kind):
        return f"{_type_words(kind.value_type)}[{kind.list_size}]"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list of {_type_words(kind.value_type)}"
    return {"float": "float32", "double": "float64"}.get(str(kind), str(kind))


def _trajectories(episode: Episode) -> RenderableType:
    table = _table("trajectory", "points", "frame", "stamps", "length")
    for name, trajectory in episode.trajectories.items():
        length = float(np.linalg.norm(np.diff(trajectory.points[:, 1:4], axis=0), axis=1).sum())
        table.add_row(
            printable(name.removeprefix("observation.")),
            str(len(trajectory)),
            printable(trajectory.frame),
            "none" if trajectory.host_ns is None else str(int((trajectory.host_ns != 0).sum())),
            f"{length:.2f} m",
        )
    return table


def _table(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for name in names:
        table.add_column(name, no_wrap=name in ("video", "column"), overflow="fold")
    return table


def _moment(unix_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(unix_s)) if unix_s > 0 else "–"
