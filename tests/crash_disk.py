"""A disk that crashes at a step, and that forgets at a power cut what was not synced."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sinks.durable import Disk

__all__ = ["QUICK", "Crash", "CrashDisk", "PowerCut", "power_cuts"]


class Crash(BaseException):
    """The process ends here; nothing of the program may catch it."""


class QuickDisk(Disk):
    """Syncs nothing: for work on which no crash follows."""

    def sync(self, path: Path) -> None:
        assert path.exists()


QUICK = QuickDisk()


@dataclass(eq=False)
class Node:
    """A file or folder, whatever its name is now: content that reached the disk, None for a folder."""

    durable: bytes | None


@dataclass(frozen=True)
class Entry:
    """One change of names that a crash may lose: names that go, names that come, folders whose sync makes it last."""

    gone: tuple[Path, ...]
    come: tuple[tuple[Path, Node], ...]

    def folders(self) -> set[Path]:
        return {path.parent for path in (*self.gone, *(path for path, _node in self.come))}


@dataclass(frozen=True)
class PowerCut:
    """What of the changes in flight got to the disk: which entries, and what became of contents: all, half, nothing."""

    kept: frozenset[int]
    content: str


@dataclass
class CrashDisk(Disk):
    """Works on real files below ``root``; at step number ``crash_at`` it raises `Crash`, with the step half done.

    Beside the real files it keeps what a power cut would leave: names as of the last sync of their folder, contents as
    of the last sync of their file. A file that somebody else wrote is taken as it stands, its content not synced.
    """

    root: Path
    crash_at: int | None = None
    steps: int = 0
    names: dict[Path, Node] = field(default_factory=dict)
    nodes: dict[Path, Node] = field(default_factory=dict)
    pending: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        for path in sorted(self.root.rglob("*")):
            node = Node(None if path.is_dir() else path.read_bytes())
            self.names[path] = self.nodes[path] = node

    def write(self, path: Path, content: bytes) -> None:
        if path not in self.nodes:
            self._come(path, Node(b""))
        if self._step():
            path.write_bytes(content[: len(content) // 2])
            raise Crash
        path.write_bytes(content)

    def sync(self, path: Path) -> None:
        self._notice()
        if self._step():
            raise Crash
        if path.is_dir():
            for entry in [entry for entry in self.pending if path in entry.folders()]:
                self._last(entry)
                self.pending.remove(entry)
        else:
            self.nodes[path].durable = path.read_bytes()

    def rename(self, source: Path, target: Path) -> None:
        self._notice()
        if self._step():
            raise Crash
        source.rename(target)
        node = self.nodes.pop(source)
        self.nodes[target] = node
        self.pending.append(Entry((source,), ((target, node),)))

    def make_folder(self, path: Path) -> None:
        if self._step():
            raise Crash
        path.mkdir()
        self._come(path, Node(None))

    def remove(self, path: Path) -> None:
        self._notice()
        if self._step():
            raise Crash
        if path.exists():
            path.unlink()
            self._go(path)

    def remove_folder(self, path: Path) -> bool:
        if self._step():
            raise Crash
        removed = super().remove_folder(path)
        if removed:
            self._go(path)
        return removed

    def remove_tree(self, path: Path) -> None:
        self._notice()
        below = sorted(path.rglob("*"), reverse=True)
        crash = self._step()
        for number, found in enumerate([*below, path]):
            if crash and number >= len(below) / 2:
                raise Crash
            if found.is_dir():
                found.rmdir()
            else:
                found.unlink()
            self._go(found)

    def cut_power(self, cut: PowerCut) -> None:
        """Make the real files what the disk holds after a power cut now."""
        self._notice()
        latest = {id(node): path.read_bytes() for path, node in self.nodes.items() if path.is_file()}
        for number, entry in enumerate(self.pending):
            if number in cut.kept:
                self._last(entry)
        shutil.rmtree(self.root)
        self.root.mkdir()
        for path, node in sorted(self.names.items()):
            if not path.parent.is_dir():
                continue
            if node.durable is None:
                path.mkdir(exist_ok=True)
                continue
            content = node.durable
            now = latest.get(id(node))
            if now is not None and now != content and cut.content != "nothing":
                content = now if cut.content == "all" else now[: len(now) // 2]
            path.write_bytes(content)

    def _step(self) -> bool:
        self.steps += 1
        return self.steps - 1 == self.crash_at

    def _come(self, path: Path, node: Node) -> None:
        self.nodes[path] = node
        self.pending.append(Entry((), ((path, node),)))

    def _go(self, path: Path) -> None:
        self.nodes.pop(path, None)
        self.pending.append(Entry((path,), ()))

    def _last(self, entry: Entry) -> None:
        for path in entry.gone:
            self.names.pop(path, None)
        for path, node in entry.come:
            self.names[path] = node

    def _notice(self) -> None:
        """Take in what a library has written by itself."""
        for path in sorted(self.root.rglob("*")):
            if path not in self.nodes:
                self._come(path, Node(None if path.is_dir() else b""))


def power_cuts(pending: int, seed: int) -> Iterator[PowerCut]:
    """Cuts worth trying: all or nothing of the names, each single change lost or alone, and some at random."""
    everything = frozenset(range(pending))
    for content in ("nothing", "half", "all"):
        yield PowerCut(frozenset(), content)
        if pending:
            yield PowerCut(everything, content)
    for number in range(pending):
        yield PowerCut(everything - {number}, "nothing")
        yield PowerCut(frozenset({number}), "all")
    chance = random.Random(seed)
    for _ in range(3):
        yield PowerCut(frozenset(n for n in everything if chance.random() < 0.5), chance.choice(["nothing", "all"]))
