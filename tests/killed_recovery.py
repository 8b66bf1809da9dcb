"""A recovery of one task; to be killed."""

from __future__ import annotations

import sys
from pathlib import Path

from sinks.recovery import recover_task

if __name__ == "__main__":
    recover_task(Path(sys.argv[1]))
