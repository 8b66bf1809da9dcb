from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from episodes.staging import MANIFEST, Manifest, Move, find_stagings, read_manifest
from sinks.commit import commit_staging
from sinks.recovery import Recovered, recover_task
from sinks.reservation import release, reserve
from tests import small_takes
from tests.crash_disk import QUICK, Crash, CrashDisk
from tests.small_takes import LIGHT


def change(staging: Path, **changes: Any) -> Manifest:
    manifest = read_manifest(staging)
    assert manifest is not None
    changed = msgspec.structs.replace(manifest, **changes)
    (staging / MANIFEST).write_bytes(changed.to_json())
    return changed


def left_behind(root: Path, rows: int = 5) -> tuple[Path, Path]:
    """A task with a take whose recorder is gone: the task, the staging folder."""
    paths, staging = small_takes.record(root, rows, LIGHT)
    release(staging)
    return paths.task_dir, staging


def prepared(root: Path) -> tuple[Path, Path]:
    """A task with a take whose commit was decided, and nothing of it carried out."""
    for crash_at in range(100):
        task, staging = left_behind(root / str(crash_at))
        paths = small_takes.paths(task.parent)
        with contextlib.suppress(Crash):
            commit_staging(paths, staging, disk=CrashDisk(task, crash_at=crash_at))
        manifest = read_manifest(staging)
        if manifest is not None and manifest.state == "prepared":
            return task, staging
    raise AssertionError("no step is the commit point")


def test_a_task_without_staging_is_left_as_it_is(tmp_path: Path) -> None:
    assert recover_task(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_take_is_rebuilt_and_says_so(tmp_path: Path) -> None:
    task, _staging = left_behind(tmp_path)
    (recovered,) = recover_task(task)
    assert recovered == Recovered(k=0, action="rebuilt", rows=5)
    assert str(recovered) == "episode 0: rebuilt, 5 rows"
    row = pq.read_table(task / "meta/episodes/chunk-000/episode-000.parquet").to_pylist()[0]
    assert json.loads(row["drop_stats"])["recovered_count"] == 1
    assert recover_task(task) == []


def test_a_take_that_this_process_records_is_left_alone(tmp_path: Path) -> None:
    paths, staging, writer = small_takes.start(tmp_path, LIGHT)
    writer.write(small_takes.row(0, LIGHT))
    (recovered,) = recover_task(paths.task_dir)
    assert recovered.action == "kept"
    assert "recording it" in recovered.message
    writer.close()
    assert commit_staging(paths, staging).rows == 1


def test_a_take_that_another_process_records_is_left_alone_until_it_is_gone(tmp_path: Path) -> None:
    task, staging = left_behind(tmp_path)
    script = (
        "import sys, msgspec; from pathlib import Path\n"
        "from episodes.staging import MANIFEST, boot_id, process_start, read_manifest\n"
        "import os; staging = Path(sys.argv[1]); manifest = read_manifest(staging)\n"
        "now = msgspec.structs.replace(manifest, boot_id=boot_id(), pid=os.getpid(), pid_start=process_start())\n"
        "(staging / MANIFEST).write_bytes(now.to_json()); print('there', flush=True); sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(staging)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[3],
    )
    with other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"there\n"
        assert [one.action for one in recover_task(task)] == ["kept"]
        other.stdin.close()
        other.wait(10)
    assert [one.action for one in recover_task(task)] == ["rebuilt"]


@pytest.mark.parametrize("change_of", [{"boot_id": "another boot"}, {"pid_start": 1}])
def test_the_same_process_number_of_another_boot_or_start_is_no_recorder(
    tmp_path: Path, change_of: dict[str, Any]
) -> None:
    paths, staging = small_takes.record(tmp_path, 2, LIGHT)
    change(staging, **change_of)
    assert [one.action for one in recover_task(paths.task_dir)] == ["rebuilt"]


def test_a_number_that_was_only_reserved_is_free_again(tmp_path: Path) -> None:
    paths = small_takes.paths(tmp_path)
    release(reserve(paths, small_takes.declaration(LIGHT)))
    (recovered,) = recover_task(paths.task_dir)
    assert recovered.action == "removed"
    assert "before the first row" in recovered.message
    assert reserve(paths, small_takes.declaration(LIGHT)) == paths.task_dir / ".0.recording"


def test_a_take_without_a_whole_row_is_removed(tmp_path: Path) -> None:
    task, staging = left_behind(tmp_path)
    (staging / "journal.arrow").write_bytes(b"")
    (recovered,) = recover_task(task)
    assert recovered.action == "removed"
    assert not staging.exists()


def test_a_folder_without_a_manifest_is_removed_but_one_that_cannot_be_read_is_kept(tmp_path: Path) -> None:
    (tmp_path / ".3.recording" / "videos").mkdir(parents=True)
    (tmp_path / ".4.recording").mkdir()
    (tmp_path / ".4.recording" / MANIFEST).write_text("{ of a later release")
    found = {one.k: one for one in recover_task(tmp_path)}
    assert found[3].action == "removed"
    assert found[4].action == "kept"
    assert "cannot be read" in found[4].message
    assert (tmp_path / ".4.recording" / MANIFEST).exists()


def test_a_manifest_of_another_number_is_kept(tmp_path: Path) -> None:
    task, staging = left_behind(tmp_path)
    staging.rename(task / ".7.recording")
    (recovered,) = recover_task(task)
    assert recovered.action == "kept"
    assert "is of take 0, not 7" in recovered.message


def test_a_link_in_place_of_a_staging_folder_is_not_followed(tmp_path: Path) -> None:
    elsewhere, _staging = left_behind(tmp_path / "elsewhere")
    task = tmp_path / "task"
    task.mkdir()
    (task / ".0.recording").symlink_to(elsewhere / ".0.recording")
    assert recover_task(task) == []
    assert (elsewhere / ".0.recording" / MANIFEST).exists()


@pytest.mark.parametrize("state", ["done", "aborted"])
def test_what_is_over_is_removed(tmp_path: Path, state: str) -> None:
    task, staging = left_behind(tmp_path)
    change(staging, state=state)
    (recovered,) = recover_task(task)
    assert recovered.action == "removed"
    assert state in recovered.message


def moves_out(manifest: Manifest) -> tuple[Move, ...]:
    return (msgspec.structs.replace(manifest.moves[0], target="../../stolen.mp4"), *manifest.moves[1:])


def moves_absolute(manifest: Manifest) -> tuple[Move, ...]:
    return (msgspec.structs.replace(manifest.moves[0], target="/tmp/stolen.mp4"), *manifest.moves[1:])


def moves_in(manifest: Manifest) -> tuple[Move, ...]:
    return (msgspec.structs.replace(manifest.moves[0], source="../meta/episodes/.lock"), *manifest.moves[1:])


@pytest.mark.parametrize("moves", [moves_out, moves_absolute, moves_in])
def test_a_manifest_that_leads_out_of_its_folder_is_not_followed(
    tmp_path: Path, moves: Callable[[Manifest], tuple[Move, ...]]
) -> None:
    task, staging = prepared(tmp_path)
    manifest = read_manifest(staging)
    assert manifest is not None
    change(staging, moves=moves(manifest))
    (recovered,) = recover_task(task, disk=QUICK)
    assert recovered.action == "kept"
    assert "leaves the folder" in recovered.message
    assert not (task / "meta" / "info.json").exists()


def test_a_prepared_file_that_the_disk_damaged_is_not_committed(tmp_path: Path) -> None:
    task, staging = prepared(tmp_path)
    video = staging / "videos" / "side_rgb.mp4"
    content = bytearray(video.read_bytes())
    content[len(content) // 2] ^= 1
    video.write_bytes(content)
    (recovered,) = recover_task(task, disk=QUICK)
    assert recovered.action == "kept"
    assert "not the file that was prepared" in recovered.message
    assert not (task / "data").exists(), "nothing may be renamed when one file is damaged"


def test_a_prepared_take_does_not_write_over_what_came_since(tmp_path: Path) -> None:
    task, staging = prepared(tmp_path)
    foreign = task / "data" / "chunk-000" / "episode-000.parquet"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"foreign")
    (recovered,) = recover_task(task, disk=QUICK)
    assert recovered.action == "kept"
    assert foreign.read_bytes() == b"foreign"
    foreign.unlink()
    assert [one.action for one in recover_task(task, disk=QUICK)] == ["rolled forward"]
    assert not staging.exists()


def test_a_damaged_take_does_not_keep_the_next_one_from_being_recorded(tmp_path: Path) -> None:
    task, staging = prepared(tmp_path)
    (staging / "videos" / "side_rgb.mp4").unlink()
    paths, next_staging = small_takes.record(task.parent, 3, LIGHT)
    assert next_staging.name == ".1.recording"
    assert commit_staging(paths, next_staging).number.k == 1
    assert [number.k for number, _folder, _manifest in find_stagings(paths)] == [0]


def test_whoever_comes_first_rolls_a_prepared_take_forward(tmp_path: Path) -> None:
    task, _staging = prepared(tmp_path)
    paths, staging = small_takes.record(task.parent, 3, LIGHT)
    committed = commit_staging(paths, staging)
    assert committed.number.k == 1
    info = json.loads((task / "meta" / "info.json").read_text())
    stats = json.loads((task / "meta" / "stats.json").read_text())
    assert info["total_episodes"] == 2
    assert stats["observation.level"]["count"] == 3 + 2
    assert find_stagings(paths) == []
