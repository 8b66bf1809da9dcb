"""What a staging folder is: the manifest, its states, and whether its recorder still lives."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from episodes.declaration import Declaration
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths

__all__ = [
    "MANIFEST",
    "ClockPair",
    "Manifest",
    "Move",
    "boot_id",
    "find_stagings",
    "process_start",
    "read_manifest",
    "recorder_lives",
]

MANIFEST = "manifest.json"
MAX_BYTES = 64 * 1024 * 1024


class ClockPair(msgspec.Struct, frozen=True):
    """The start of a take on both clocks, read together: monotonic ns, Unix seconds."""

    mono_ns: int
    wall_s: float


class Move(msgspec.Struct, frozen=True):
    """One file on its way into the task.

    Attributes:
        source: relative to the staging folder. target: relative to the task.
        size, crc32: of the file. replaces: CRC-32 of what stands at the target before; None where nothing does.
    """

    source: str
    target: str
    size: int
    crc32: int
    replaces: int | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a take.

    Attributes:
        state: ``recording``; ``prepared`` is the commit point; ``done`` and ``aborted`` only wait to be removed.
        k: the take's number. declaration: the rig's. clock: start of the take; None while it is only reserved.
        boot_id, pid, pid_start: who records. pid_start is the process's start in clock ticks since boot.
        sizes: slot to (height, width). extensions: slot to file extension. video_codec: for the episodes row.
        closed: slot to frames of each video file that was finished, so that it needs no repair.
        moves: what a commit renames, in order.
    """

    state: Literal["recording", "prepared", "done", "aborted"]
    k: int
    declaration: Declaration
    clock: ClockPair | None = None
    boot_id: str
    pid: int
    pid_start: int
    sizes: dict[str, tuple[int, int]] = {}
    extensions: dict[str, str] = {}
    video_codec: dict[str, object] = {}
    closed: dict[str, int] = {}
    moves: tuple[Move, ...] = ()

    @property
    def number(self) -> EpisodeNumber:
        """The take's number."""
        return EpisodeNumber(self.k)

    def to_json(self) -> bytes:
        """The file's bytes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2)


def find_stagings(paths: TaskPaths) -> list[tuple[EpisodeNumber, Path, Manifest | None]]:
    """The staging folders of a task by number, each with its manifest; links and files are none."""
    return [
        (number, folder, read_manifest(folder))
        for number, folder in paths.stagings()
        if folder.is_dir() and not folder.is_symlink()
    ]


def read_manifest(staging: Path) -> Manifest | None:
    """The manifest of a staging folder; None when there is none that can be read."""
    try:
        with (staging / MANIFEST).open("rb") as file:
            return msgspec.json.decode(file.read(MAX_BYTES), type=Manifest)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None


def recorder_lives(manifest: Manifest) -> bool:
    """Whether the process that made the manifest still runs: same boot, same pid, same start."""
    return manifest.boot_id == boot_id() and process_start(manifest.pid) == manifest.pid_start


def boot_id() -> str:
    """An id of this boot of the machine; "" where the system gives none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def process_start(pid: int | None = None) -> int:
    """When a process was started, in clock ticks since boot; -1 when it does not run."""
    try:
        stat = Path(f"/proc/{os.getpid() if pid is None else pid}/stat").read_text()
        fields = stat.rpartition(")")[2].split()
        return -1 if fields[0] == "Z" else int(fields[19])
    except (OSError, IndexError, ValueError):
        return -1
