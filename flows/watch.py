"""The watching thread of a session: what nobody may look at on the tick thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import structlog

from flows.device_link import DeviceLink
from flows.disk import MIB, DiskBudget, folder_bytes
from flows.rate_meter import RateMeter
from flows.recording import RunningTake
from flows.session_events import DeviceChanged, EndReason, SessionEvent, Warned
from flows.take_port import VideoPort
from operators.tick_sample import NS
from sinks.take_writer import SlotLive

__all__ = ["SessionWatch"]

LOOK_S = 0.25
AGAIN_S = 5.0
"""A condition that goes on is not told again before."""
LOAD_WARNING = 0.9
MS = 1_000_000

_log = structlog.get_logger(__name__)


class SessionWatch:
    """Looks, four times a second, at the disk, the devices' silence, the encoders' load and the take's counters.

    It ends a take whose disk reserve is reached or whose folder is gone, and warns of the rest. The tick thread only
    counts; whatever it counted is told from here.

    Attributes:
        rates: items a second of every port, by ``<device key> <port>``. loads: of the encoders, by slot.
        free: bytes above the disk reserve. written: bytes of the running take.
    """

    def __init__(
        self, links: Sequence[DeviceLink], disk: DiskBudget, silence_s: float, emit: Callable[[SessionEvent], None]
    ) -> None:
        self._links = tuple(links)
        self._disk = disk
        self._silence_ns = round(silence_s * NS)
        self._emit = emit
        self._running: RunningTake | None = None
        self._silent: set[str] = set()
        self._seen: dict[tuple[str, str], int] = {}
        self._told_ns: dict[tuple[str, str], int] = {}
        self._wake = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="session-watch", daemon=True)
        self.rates = RateMeter()
        self.loads: dict[str, SlotLive] = {}
        self.free = 0
        self.written = 0

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def watch(self, running: RunningTake | None) -> None:
        """Look after this take from now on, or after none."""
        self._seen.clear()
        self._told_ns.clear()
        self.loads, self.written = {}, 0
        self._running = running

    def is_silent(self, link: DeviceLink) -> bool:
        """Whether a connected device has sent nothing for too long."""
        heard = link.heard_ns
        return link.state == "connected" and (heard is None or time.monotonic_ns() - heard > self._silence_ns)

    def _run(self) -> None:
        while not self._closing:
            self._wake.wait(LOOK_S)
            try:
                self._look()
            except Exception:  # noqa: BLE001 - the watch must outlive what it looks at
                _log.exception("looking after the session failed")

    def _look(self) -> None:
        now = time.monotonic_ns()
        self.rates.look(
            now, {f"{link.flow.key} {name}": meter.count for link in self._links for name, meter in link.meters.items()}
        )
        self._look_at_silence(now)
        running = self._running
        if running is None:
            self._look_at_disk()
            return
        stopped = running.stopped()
        if stopped is not None:
            self._emit(stopped)
        if running.take.ended.is_set():
            return
        self._look_at_take_disk(running)
        self._look_at_encoders(running)
        self._look_at_counters(running)

    def _look_at_disk(self) -> None:
        try:
            self.free = self._disk.free()
        except OSError:
            self.free = 0

    def _look_at_silence(self, now: int) -> None:
        for link in self._links:
            key, silent = link.flow.key, self.is_silent(link)
            if silent == (key in self._silent):
                continue
            if silent:
                self._silent.add(key)
                reason = f"it is connected, but has sent nothing for {self._silence_ns / NS:g} s"
                self._emit(DeviceChanged(at_ns=now, device=key, name=link.flow.name, state="silent", reason=reason))
            else:
                self._silent.discard(key)
                if link.state == "connected":
                    self._emit(DeviceChanged(at_ns=now, device=key, name=link.flow.name, state="connected"))

    def _look_at_take_disk(self, running: RunningTake) -> None:
        staging = running.armed.staging
        if not staging.is_dir():
            running.take.request_end(EndReason.WRITER_FAILED, f"{staging} is gone: somebody removed the task's folder")
            return
        self.written = folder_bytes(staging)
        try:
            self.free = self._disk.free()
        except OSError as error:
            running.take.request_end(EndReason.WRITER_FAILED, f"the disk cannot be looked at: {error}")
            return
        if self.free <= 0:
            running.take.request_end(
                EndReason.DISK_RESERVE,
                f"the disk is down to its reserve of {self._disk.reserve_mib} MiB: the take is ended and saved; "
                "delete something, or record to another disk",
            )
        elif self._disk.is_low(self.free):
            self._tell(
                running, "disk_low", "", f"{self.free // MIB} MiB of disk left before the take is ended", every_s=60
            )

    def _look_at_encoders(self, running: RunningTake) -> None:
        now = time.monotonic_ns()
        if now - self._told_ns.get(("look", "encoders"), 0) < NS:
            return
        self._told_ns["look", "encoders"] = now
        self.loads = running.writer.live()
        for slot, load in self.loads.items():
            if load.load > LOAD_WARNING and load.waiting > 1:
                self._tell(
                    running,
                    "encoder_load",
                    slot,
                    f"slot {slot}: its encoder is busy {load.load:.0%} of the time, {load.waiting} frames wait",
                )

    def _look_at_counters(self, running: RunningTake) -> None:
        take = running.take
        if self._grown("skip", "", take.skipped):
            self._tell(running, "tick_skip", "", f"{take.skipped} ticks were skipped: the machine is too busy")
        for channel, count in dict(take.faults).items():
            if self._grown("channel_fault", channel, count):
                self._tell(running, "channel_fault", channel, f"{channel}: {count} values could not be sampled")
        for port in take.ports:
            if self._grown("lost", port.key, port.lost):
                self._tell(running, "lost", port.key, f"{port.key}: {port.lost} lost so far")
            if isinstance(port, VideoPort):
                self._look_at_slot(running, port)

    def _look_at_slot(self, running: RunningTake, port: VideoPort) -> None:
        slot, gap = port.key, running.take.gaps[port.key]
        if self._grown("wrong_size", slot, port.wrong_size):
            self._tell(
                running,
                "wrong_size",
                slot,
                f"slot {slot}: {port.wrong_size} frames of {port.wrong_shape} instead of {port.shape}; the last good "
                "one is repeated",
            )
        if self._grown("gap", slot, gap.count):
            self._tell(
                running, "gap", slot, f"slot {slot}: {gap.count} holes so far, the largest {gap.max_ns / MS:.0f} ms"
            )
        if self._grown("time_back", slot, gap.resyncs):
            self._tell(running, "time_back", slot, f"slot {slot}: its stamps went back {gap.resyncs} times")

    def _grown(self, code: str, about: str, value: int) -> bool:
        grown = value > self._seen.get((code, about), 0)
        self._seen[code, about] = value
        return grown

    def _tell(self, running: RunningTake, code: str, about: str, message: str, every_s: float = AGAIN_S) -> None:
        now = time.monotonic_ns()
        last = self._told_ns.get((code, about))
        if last is not None and now - last < every_s * NS:
            return
        self._told_ns[code, about] = now
        running.warnings.append(message)
        self._emit(Warned(at_ns=now, code=code, message=message, about=about, k=running.k))
