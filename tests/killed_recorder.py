"""A recorder of a small take, live at 30 rows a second, that prints each row that was taken; to be killed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from sinks.commit import commit_staging
from tests import small_takes

ROWS = 60


def say(word: str) -> None:
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


def main(root: Path) -> None:
    paths, staging, writer = small_takes.start(root, blocking=False)
    say("open")
    due = time.monotonic_ns()
    for index in range(ROWS):
        row = small_takes.row(index)
        due += small_takes.PERIOD_NS
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        if not writer.write(row):  # A machine that is too busy ends the take, as a session would.
            break
        say(str(index))
    writer.close()
    commit_staging(paths, staging)
    say("committed")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
