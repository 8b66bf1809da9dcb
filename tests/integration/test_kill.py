"""A recorder killed at a hundred random moments: in prime, in a take, in commit, and again while it is recovered."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from episodes.reader import open_task
from episodes.validator import validate_task
from sinks.recovery import recover_task

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

KILLS = 100
LOST_ROWS = 30
"""What a kill may cost: the last second."""

RECORDER = """
import itertools, json, sys, time
from pathlib import Path
import structlog
from flows.session import Session
from flows.session_events import event_record
from rigs.registry import load_rig

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
rig = load_rig("demo", {"matrices": sys.argv[2], "video_codec": "libx264", "depth_codec": "ffv1"})

def tell(event):
    print(json.dumps({"event": event_record(event)["event"], "record": event_record(event)}, default=str), flush=True)

with Session(rig, Path(sys.argv[1]), "kill") as session:
    session.events.subscribe(tell)
    for _ in itertools.count():
        session.start(seconds=0.9)
        session.wait()
        session.stop()
"""


def digest(task: Path) -> dict[str, str]:
    """Content of every file of a committed episode."""
    return {
        str(path.relative_to(task)): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in ("data", "videos", "meta/episodes")
        for path in sorted((task / folder).rglob("episode-*"))
    }


class Victim:
    """A recorder in a process of its own, and what it said before it was killed."""

    def __init__(self, root: Path, matrices: bool) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", RECORDER, str(root), str(matrices).lower()],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.committed: list[int] = []
        self.first_due_ns: int | None = None
        self.k: int | None = None
        self.armed = threading.Event()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                told = json.loads(line)
                if told["event"] == "armed":
                    self.armed.set()
                    self.first_due_ns = None
                elif told["event"] == "recording":
                    self.k, self.first_due_ns = told["record"]["k"], told["record"]["first_due_ns"]
                elif told["event"] == "stopped":
                    self.first_due_ns = None
                elif told["event"] == "committed":
                    self.committed.append(told["record"]["k"])

    def kill(self) -> int:
        """Kill it; gives the moment, host monotonic, ns."""
        moment = time.monotonic_ns()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._listener.join(10)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return moment


def recover_with_kills(task: Path, chance: random.Random) -> None:
    """Recover in a child that is killed at a random moment, then for good."""
    code = (
        "import sys; from pathlib import Path; from sinks.recovery import recover_task; recover_task(Path(sys.argv[1]))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(task)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(chance.uniform(0.3, 0.9))
    child.kill()
    child.wait()
    recover_task(task)


def campaign(root: Path, seed: int, kills: int) -> list[str]:
    """Kill ``kills`` recorders of one task, one after the other; gives what did not hold."""
    chance = random.Random(seed)
    wrong: list[str] = []
    task = root / "kill"
    known: dict[str, str] = {}
    for turn in range(kills):
        victim = Victim(root, matrices=turn % 2 == 0)
        assert victim.armed.wait(60), "the recorder did not come up"
        time.sleep(chance.uniform(0.0, 2.2))
        moment = victim.kill()
        if turn % 5 == 4:
            recover_with_kills(task, chance)
        else:
            recover_task(task)
        now = digest(task)
        wrong += [f"turn {turn}: {name} changed" for name in known if now.get(name) != known[name]]
        if not (task / "meta" / "info.json").exists():
            # Killed before the task's first row was on disk: there is nothing, and nothing of it may be left.
            wrong += [f"turn {turn}: {path} stands in an empty task" for path in task.rglob("episode-*")]
            wrong += [f"turn {turn}: episode {k} was committed and is gone" for k in victim.committed]
            continue
        found = open_task(task)
        numbers = [episode.k for episode in found.episodes]
        if numbers != list(range(len(numbers))):
            wrong.append(f"turn {turn}: numbers {numbers}")
        wrong += [f"turn {turn}: episode {k} was committed and is gone" for k in victim.committed if k not in numbers]
        if victim.first_due_ns is not None and victim.k is not None:
            due = int((moment - victim.first_due_ns) / 1e9 * 30)
            rows = found.episode(victim.k).length if victim.k in numbers else 0
            skipped = found.episode(victim.k).drop_stats.get("tick_skip_count", 0) if victim.k in numbers else 0
            if due - rows - skipped > LOST_ROWS:
                wrong.append(f"turn {turn}: {rows} rows recovered of {due}")
        if [path.name for path in task.iterdir() if path.name.startswith(".")]:
            wrong.append(f"turn {turn}: staging is left behind")
        known = now
    total = sum(episode.length for episode in open_task(task).episodes)
    counted = open_task(task).stats["observation.gripper_state"]["count"]
    if counted > total:
        wrong.append(f"statistics count {counted} samples in {total} rows")
    samples = 0
    for episode in open_task(task).episodes:
        rows = episode.rows(["observation.gripper_state"]).column(0).to_pylist()
        samples += sum(1 for row in rows if any(row))
    if not samples <= counted:
        wrong.append(f"statistics count {counted} of {samples} samples")
    report = validate_task(task)
    wrong += [f"{finding.rule}: {finding.message}" for finding in report.findings if finding.severity == "error"]
    return wrong


def test_a_hundred_kills_lose_no_more_than_the_last_second(tmp_path: Path) -> None:
    seeds = [random.SystemRandom().randrange(2**32) for _ in range(2)]
    folders = [tmp_path / str(seed) for seed in seeds]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(campaign, folders, seeds, [KILLS // 2] * 2))
    assert [problem for result in results for problem in result] == [], f"seeds {seeds}"
