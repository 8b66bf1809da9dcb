"""What the validator says of takes that are on their way, left behind, or deleted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from episodes.declaration import Declaration
from episodes.staging import MANIFEST, ClockPair, Manifest, boot_id, process_start
from episodes.validator import validate_task
from tests.task_builder import FPS, MONO_NS, ROWS, WALL_S, TaskBuilder, stats_block


def staged(path: Path, state: str, *, alive: bool, k: int = 1) -> None:
    pid = os.getpid()
    manifest = Manifest(
        state=state,  # type: ignore[arg-type]  # one of the four, from the parameters below
        k=k,
        declaration=Declaration(rig="r", task_name="t", fps=float(FPS), streams=(), master=None),
        clock=ClockPair(MONO_NS, WALL_S),
        boot_id=boot_id(),
        pid=pid,
        pid_start=process_start(pid) if alive else -7,
    )
    folder = path / f".{k}.recording"
    folder.mkdir()
    (folder / MANIFEST).write_bytes(manifest.to_json())


@pytest.mark.parametrize(
    ("state", "alive", "severity", "word"),
    [
        ("recording", True, "info", "is recording"),
        ("recording", False, "warning", "recorder is gone"),
        ("prepared", False, "warning", "commit was not finished"),
        ("done", False, "warning", "commit was finished"),
        ("aborted", False, "warning", "given up"),
    ],
)
def test_a_staged_take_is_named_with_its_state(
    tmp_path: Path, state: str, alive: bool, severity: str, word: str
) -> None:
    builder = TaskBuilder(tmp_path / "task")
    builder.episode(0)
    staged(builder.write(), state, alive=alive)
    (finding,) = validate_task(tmp_path / "task").findings
    assert (finding.rule, finding.severity, finding.episode) == ("layout.staging", severity, 1)
    assert word in finding.message


def test_files_of_a_commit_that_was_cut_short_are_no_orphans_while_their_staging_stands(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "task")
    builder.episode(0)
    builder.episode(1)
    builder.info["total_episodes"] = 1
    builder.stats = {"observation.left_glove": stats_block(ROWS)}
    path = builder.write()
    builder.row_path(1).unlink()
    staged(path, "prepared", alive=False)
    report = validate_task(path)
    assert [finding.rule for finding in report.findings] == ["layout.staging"]
    assert report.episodes == (0,)


def test_statistics_and_declarations_that_outlive_a_deleted_episode_are_no_error(tmp_path: Path) -> None:
    builder = TaskBuilder(tmp_path / "task")
    builder.episode(0)
    builder.info["total_episodes"] = 3
    builder.stats = {"observation.left_glove": stats_block(50 * ROWS)}
    builder.info["features"]["observation.humidity"] = {"dtype": "float32", "shape": [2]}
    report = validate_task(builder.write())
    assert [(finding.rule, finding.severity) for finding in report.findings] == [("feature.unused", "info")]
