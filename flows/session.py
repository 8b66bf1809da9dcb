"""The capture flow: devices opened once, takes armed, primed, recorded, stopped, committed or thrown away."""

from __future__ import annotations

import importlib.metadata
import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

import reactivex as rx
import structlog

from episodes.naming import task_dir_name
from flows.device_link import DeviceLink
from flows.disk import DiskBudget
from flows.errors import SessionError
from flows.finish import NothingRecordedError, commit_take, throw_away
from flows.interpreter import tuned_for_recording
from flows.live_view import LiveView, SessionState
from flows.preflight import ArmedTake, Preflight
from flows.recording import RunningTake
from flows.rig import Rig
from flows.session_events import EndReason, SessionEvent
from flows.session_news import SessionNews
from flows.session_options import SessionOptions
from flows.session_view import live_view
from flows.summary import TakeSummary
from flows.take import Take
from flows.watch import SessionWatch
from operators.errors import RigflowError
from sinks.recovery import recover_task
from sinks.reservation import abort_take

__all__ = ["Session", "SessionOptions"]

_log = structlog.get_logger(__name__)


class Session:
    """A rig at work on one task.

    ::

        with Session(rig, Path("data/recordings"), "pour water") as session:
            session.events.subscribe(show)
            session.start(seconds=20)
            session.wait()
            summary = session.stop()

    Devices are opened by ``with`` and stay open between the takes; what they send then is dropped, uncounted. All
    methods are for one thread, the caller's; `live`, `state` and `end_reason` for any. Events come on the thread on
    which they happen: the caller's, the watching one, a device's, never the tick thread; a subscriber that raises is
    cut off and logged.

    Raises:
        ContractError: the task's name cannot be a directory's.
    """

    def __init__(self, rig: Rig, root: Path, task: str, *, options: SessionOptions | None = None) -> None:
        self._rig = rig
        self._task = task
        self._task_dir = root / task_dir_name(task)
        self._options = options or SessionOptions()
        self._declaration = rig.declaration(task, self._options.app_version or _installed_version())
        self._news = SessionNews(task, self._task_dir)
        self._links = tuple(DeviceLink(flow, self._device_changed) for flow in rig.flows)
        disk = DiskBudget(root, reserve=self._options.disk_reserve, warning=self._options.disk_warning)
        self._watch = SessionWatch(self._links, disk, self._options.silence_s, self._news.tell)
        self._preflight = Preflight(
            rig,
            self._declaration,
            self._task_dir,
            self._links,
            disk,
            frame_timeout_s=self._options.prime_timeout_s,
        )
        self._running: RunningTake | None = None
        self._state = SessionState.CLOSED
        self._was_opened = False

    @property
    def events(self) -> rx.Observable[SessionEvent]:
        """What happens; hot, ends when the session is closed."""
        return self._news.events

    @property
    def task_dir(self) -> Path:
        """The task's directory; it exists from the first take on."""
        return self._task_dir

    @property
    def state(self) -> SessionState:
        """Where the session is."""
        running = self._running
        if self._state is SessionState.RECORDING and running is not None and running.take.ended.is_set():
            return SessionState.ENDED
        return self._state

    @property
    def end_reason(self) -> EndReason | None:
        """Why the take ended by itself; None while it goes on, and between takes."""
        running = self._running
        return running.take.reason if running is not None and running.take.ended.is_set() else None

    def __enter__(self) -> Session:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        """Recover what an earlier recorder left in the task, and open the devices; ``with`` does it.

        Raises:
            SessionError: the session was opened before. EpisodeError: the task cannot be recorded into; the session is
            closed then.
        """
        if self._was_opened:
            raise SessionError("a session is opened once; make a new one")
        self._was_opened = True
        try:
            with self._stage("open"):
                self._preflight.check_task()
                self._recover()
                for link in self._links:
                    link.open()
        except BaseException:
            self.close()
            raise
        self._watch.start()
        self._state = SessionState.IDLE

    def close(self) -> None:
        """Close the devices; a take that still goes on is stopped and saved before. ``with`` does it. Idempotent."""
        if self._state is not SessionState.CLOSED:
            if self._running is not None:
                try:
                    self.stop()
                except RigflowError as error:
                    _log.error("the take could not be saved", task=self._task, problem=str(error))
            self._watch.close()
            self._state = SessionState.CLOSED
        with ThreadPoolExecutor(max(1, len(self._links)), thread_name_prefix="close") as pool:
            list(pool.map(DeviceLink.close, self._links))
        self._news.close()

    def start(self, seconds: float | None = None) -> int:
        """Arm, prime and start to record; gives the take's number k.

        Args:
            seconds: the take ends by itself after so many; None: when it is stopped.

        Raises:
            TaskBusyError: another recorder works on the task. ContractError: fps or depth codec differ from what the
            task's first episode fixed. DeviceError: a video slot gave no frame in time. SessionError: no disk left,
            or the session is not idle.
        """
        if self._state is not SessionState.IDLE:
            raise SessionError(f"a take cannot start while the session is {self.state}")
        if seconds is not None and not 0 < seconds < math.inf:
            raise SessionError(f"a take of {seconds} s cannot be recorded")
        with ExitStack() as undo:
            self._enter(SessionState.ARMING, undo)
            with self._stage("arm"):
                self._recover()
                armed = self._preflight.arm()
            undo.callback(self._give_back, armed)
            k = armed.number.k
            self._news.armed(armed)
            tuning = ExitStack()
            undo.callback(tuning.close)
            tuning.enter_context(tuned_for_recording())
            self._state = SessionState.PRIMING
            take = Take(
                self._rig,
                self._links,
                armed.shapes,
                drain_s=self._options.drain_s,
                gap_min_ms=self._options.gap_min_ms,
            )
            with self._stage("prime", k):
                before = time.monotonic_ns()
                take.prime(self._options.prime_timeout_s)
                now = time.monotonic_ns()
            self._news.primed(k, (now - before) / 1e9)
            undo.callback(take.abandon)
            with self._stage("record", k):
                running = RunningTake.begin(armed, take, self._declaration, tuning)
                undo.callback(running.writer.abort)
                first_due_ns = take.record(running.writer, seconds)
            undo.pop_all()
        self._running = running
        self._state = SessionState.RECORDING
        self._watch.watch(running)
        self._news.recording(k, first_due_ns)
        return k

    def wait(self, timeout_s: float | None = None) -> EndReason | None:
        """Wait until the take has ended by itself; None when ``timeout_s`` went by before.

        Raises:
            SessionError: no take is running.
        """
        running = self._take_of("wait for")
        return running.take.reason if running.take.ended.wait(timeout_s) else None

    def stop(self) -> TakeSummary:
        """End the take (where it has not ended yet), and commit it.

        Raises:
            EpisodeError: it could not be committed; what was recorded stays in staging, for ``recover``.
            SessionError: no take is running, or it has no row: then it is thrown away.
        """
        running = self._take_of("stop")
        asked_ns = time.monotonic_ns()
        running.take.request_end(EndReason.STOPPED)
        self._end(running)
        try:
            summary = commit_take(running, self._declaration, asked_ns=asked_ns)
        except NothingRecordedError as error:
            self._news.failed("record", error, running.k)
            throw_away(running)
            self._news.aborted(running.k, "no row was recorded")
            raise
        except Exception as error:
            self._news.failed("commit", error, running.k, kept=str(running.armed.staging))
            raise
        finally:
            self._over(running)
        self._news.committed(running.k, summary)
        return summary

    def discard(self) -> None:
        """End the take and throw it away; its number is free again.

        Raises:
            SessionError: no take is running.
        """
        running = self._take_of("throw away")
        running.take.abandon()
        self._end(running)
        try:
            running.writer.abort()
            throw_away(running)
        finally:
            self._over(running)
        self._news.aborted(running.k)

    def live(self) -> LiveView:
        """The session, now; from any thread, cheap enough for ten times a second."""
        return live_view(self.state, self._task, self._links, self._watch, self._running)

    def _take_of(self, wish: str) -> RunningTake:
        if self._running is None:
            raise SessionError(f"there is no take to {wish}: the session is {self.state}")
        return self._running

    def _end(self, running: RunningTake) -> None:
        """After the last row: nobody looks after the take any more, and its end is told."""
        running.take.ended.wait()
        running.take.join()
        self._watch.watch(None)
        self._state = SessionState.COMMITTING
        stopped = running.stopped()
        if stopped is not None:
            self._news.tell(stopped)

    def _over(self, running: RunningTake) -> None:
        running.tuning.close()
        self._running = None
        self._state = SessionState.IDLE

    def _enter(self, state: SessionState, undo: ExitStack) -> None:
        self._state = state
        undo.callback(setattr, self, "_state", SessionState.IDLE)

    def _give_back(self, armed: ArmedTake) -> None:
        """A take that never began: its number is free again."""
        abort_take(armed.paths, armed.staging)
        self._news.aborted(armed.number.k, "the take did not begin")

    def _recover(self) -> None:
        if not self._task_dir.is_dir():
            return
        for found in recover_task(self._task_dir):
            if found.action != "kept":
                self._news.recovered(found)

    def _device_changed(self, link: DeviceLink) -> None:
        running = self._running
        self._news.device(link, None if running is None else running.k)

    @contextmanager
    def _stage(self, stage: str, k: int | None = None) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            where = error.filename or self._task_dir
            problem = SessionError(f"{where}: {error.strerror or error}; check the folder, its rights and its disk")
            self._news.failed(stage, problem, k)
            raise problem from error
        except Exception as error:
            self._news.failed(stage, error, k)
            raise


def _installed_version() -> str:
    try:
        return importlib.metadata.version("rigflow")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
