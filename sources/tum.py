"""TUM trajectories as live trackers: a file at its own intervals, or a process that prints lines.

A line is ``t x y z qx qy qz qw``: seconds, metres, unit quaternion. A ninth field, where a tracker prints one, is the
host monotonic time, ns, of the frame that was sampled. ``#`` begins a comment.
"""

from __future__ import annotations

import math
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import reactivex as rx
import structlog

from operators.errors import DeviceError
from operators.events import Event, Point
from sources.device_thread import Emit, device_thread
from sources.pace import wait_until

__all__ = ["TRAJECTORY_PORT", "parse_tum_line", "tum_file", "tum_process"]

TRAJECTORY_PORT = "trajectory"

MAX_LINE = 4096
"""Bytes of the longest line that is looked at; nine numbers need a twentieth of it."""
MAX_STAMP_NS = 2**63 - 1
POLL_S = 0.1
TERMINATE_S = 1.0
KILL_S = 0.5
LAST_WORDS_S = 0.3
STDERR_TAIL = 400
"""Bytes of a process's last words that are kept for the operator."""

_log = structlog.get_logger(__name__)


def parse_tum_line(line: bytes | str, received_ns: int) -> Point | None:
    """One line as a pose, or None where it is none: a comment, empty, garbage, not finite, torn.

    Commas count as spaces. Without a ninth field, or with one that is no stamp, the pose keeps ``received_ns``: a
    malformed stamp does not cost the pose.
    """
    text = line.decode("ascii", errors="replace") if isinstance(line, bytes) else line
    fields = text.partition("#")[0].replace(",", " ").split()
    if not 8 <= len(fields) <= 9:
        return None
    try:
        t, x, y, z, qx, qy, qz, qw = map(float, fields[:8])
    except ValueError:
        return None
    if not all(map(math.isfinite, (t, x, y, z, qx, qy, qz, qw))):
        return None
    return Point(t, (x, y, z, qx, qy, qz, qw), _stamp(fields[8]) if len(fields) == 9 else received_ns)


def _stamp(field: str) -> int | None:
    """A host stamp as printed; None where it is missing (0) or garbage."""
    if not field.isascii() or not field.isdigit() or len(field) > 19:
        return None
    stamp = int(field)
    return stamp if 0 < stamp <= MAX_STAMP_NS else None


def tum_file(path: Path, *, key: str) -> rx.Observable[Event]:
    """Replay a TUM file as a live tracker, each pose at its own interval after the one before.

    The first pose comes at once. A pose's ``t`` is the file's, its ``host_ns`` the moment at which it was due: this is
    when the replayed tracker sampled it. Time that goes backwards is a tracker that started anew: the pose comes at
    once. Lines that are no pose are left out and counted in the log. Completes at the end of the file.

    Raises:
        DeviceError: through ``on_error``; the file cannot be read, or has no pose.
    """

    def read(emit: Emit, stop: threading.Event) -> None:
        poses = unparsed = 0
        anchor_ns, anchor_t, last_t = time.monotonic_ns(), 0.0, -math.inf
        try:
            with path.open("rb") as file:
                for line in _file_lines(file):
                    point = parse_tum_line(line, 0)
                    if point is None:
                        unparsed += bool(line.partition(b"#")[0].strip())
                        continue
                    if point.t < last_t or not poses:
                        anchor_ns, anchor_t = time.monotonic_ns(), point.t
                    last_t = point.t
                    due_ns = anchor_ns + round((point.t - anchor_t) * 1e9)
                    if not wait_until(due_ns, stop):
                        return
                    poses += 1
                    emit(Event(TRAJECTORY_PORT, Point(point.t, point.pose, due_ns)))
        except OSError as error:
            raise DeviceError(key, f"{path.name} cannot be read: {error.strerror}; give a TUM file") from None
        if unparsed:
            _log.warning("lines that are no pose were left out", device=key, file=path.name, lines=unparsed)
        if not poses:
            raise DeviceError(key, f"{path.name} has no pose; lines of 't x y z qx qy qz qw' are needed")

    return device_thread(key, read)


def _file_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Lines of a file, bounded: one that is too long comes as garbage, once, and none of its pieces is a line."""
    while line := file.readline(MAX_LINE + 1):
        if len(line) <= MAX_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE + 1)
        yield b"too long"


def tum_process(command: Sequence[str], *, key: str) -> rx.Observable[Event]:
    """Run a tracker that prints TUM lines, and read them as they come.

    Its lines are stamped on receipt, before they are parsed, unless they bring their own stamp. Lines that are no pose,
    longer than 4096 bytes or torn by the tracker's end are left out and counted in the log. What it writes to its
    standard error is read and kept for the reason of a failure. It ends with the subscription: terminated, and killed
    if it lives a second later, with the processes that it started.

    A tracker that ends with status 0 completes.

    Args:
        command: program and arguments; no shell is involved.
        key: of the device.

    Raises:
        DeviceError: through ``on_error``; it cannot be started, failed, or was killed.
    """
    arguments = list(command)

    def read(emit: Emit, stop: threading.Event) -> None:
        try:
            # A session of its own, so that the processes that it starts can be ended with it.
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise DeviceError(key, f"{arguments[:1]} cannot be started: {reason}") from None
        lines = _Lines()
        last_words = b""
        try:
            last_words = _pump(process, lines, emit, stop)
        finally:
            code, outlived = _end(process)
            if lines.unparsed:
                _log.warning("lines that are no pose were left out", device=key, lines=lines.unparsed)
        if stop.is_set() or (code == 0 and not outlived):
            return
        how = "closed its output" if outlived else f"ended with status {code}"
        if code < 0 and not outlived:
            how = f"was ended by signal {-code}"
        said = last_words.decode(errors="replace").strip()
        raise DeviceError(key, f"the tracker {how}" + (f": {said.splitlines()[-1]}" if said else ""))

    return device_thread(key, read)


class _Lines:
    """Cuts what a process prints into lines, bounded; the rest without an end is never taken for a line."""

    def __init__(self) -> None:
        self._rest = b""
        self._skipping = False
        self.unparsed = 0

    def feed(self, chunk: bytes, received_ns: int, emit: Emit) -> None:
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        for line in whole:
            if self._skipping:
                self._skipping = False
                continue
            point = parse_tum_line(line, received_ns) if len(line) <= MAX_LINE else None
            if point is not None:
                emit(Event(TRAJECTORY_PORT, point))
            elif line.partition(b"#")[0].strip():
                self.unparsed += 1
        if len(self._rest) > MAX_LINE:
            self.unparsed += not self._skipping
            self._rest, self._skipping = b"", True


def _pump(process: subprocess.Popen[bytes], lines: _Lines, emit: Emit, stop: threading.Event) -> bytes:
    """Read until the process closes its output or ``stop`` is set; gives the last words on its standard error."""
    tail = b""
    output, errors = _pipe(process.stdout), _pipe(process.stderr)
    with selectors.DefaultSelector() as selector:
        for stream in (output, errors):
            selector.register(stream, selectors.EVENT_READ)
        closed_at: float | None = None
        while selector.get_map() and not stop.is_set():
            ready = selector.select(POLL_S)
            for key, _events in ready:
                chunk = os.read(key.fd, 65_536)
                received_ns = time.monotonic_ns()
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is output:
                    lines.feed(chunk, received_ns, emit)
                else:
                    tail = (tail + chunk)[-STDERR_TAIL:]
            # The reason of a failure may come a moment after the last pose.
            if closed_at is None and output not in {key.fileobj for key in selector.get_map().values()}:
                closed_at = time.monotonic()
            if closed_at is not None and time.monotonic() - closed_at > LAST_WORDS_S:
                break
    return tail


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _end(process: subprocess.Popen[bytes]) -> tuple[int, bool]:
    """Make sure that the process and what it started are gone, within bounds; its status, and whether we ended it."""
    outlived = False
    try:
        # One that closed its output by itself is about to end: its own status says more than ours.
        code = process.wait(POLL_S)
    except subprocess.TimeoutExpired:
        outlived = True
        _signal_group(process.pid, signal.SIGTERM)
        try:
            code = process.wait(TERMINATE_S)
        except subprocess.TimeoutExpired:
            _signal_group(process.pid, signal.SIGKILL)
            try:
                code = process.wait(KILL_S)
            except subprocess.TimeoutExpired:
                code = -signal.SIGKILL
    finally:
        for stream in (process.stdout, process.stderr):
            _pipe(stream).close()
    _signal_group(process.pid, signal.SIGKILL)
    return code, outlived


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return
