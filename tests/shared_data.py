"""Where recorded data for tests lies: beside the repository, or where RIGFLOW_TEST_DATA says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = ["shared_data"]

_BESIDE = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"


def shared_data(*parts: str) -> Path:
    """Path of a file or folder of the recorded data; skips the test, with the reason, where it is not there."""
    root = Path(os.environ.get("RIGFLOW_TEST_DATA", _BESIDE)).resolve()
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no recorded data at {'/'.join(parts)}; set RIGFLOW_TEST_DATA to its folder")
    return path
