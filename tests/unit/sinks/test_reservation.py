from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from episodes.errors import ContractError, TaskBusyError
from episodes.paths import TaskPaths
from episodes.recycled import read_recycled
from episodes.staging import read_manifest
from episodes.streams import VectorStream
from sinks.commit import commit_staging
from sinks.deletion import delete_episode
from sinks.reservation import abort_take, is_recorded, release, reserve
from sinks.task_lock import task_lock
from tests import small_takes
from tests.small_takes import LIGHT

ROOT = Path(__file__).resolve().parents[3]


def commit_one(root: Path) -> TaskPaths:
    paths, staging = small_takes.record(root, 2, LIGHT)
    commit_staging(paths, staging)
    return small_takes.paths(root)


def test_the_first_take_of_a_task_gets_0_and_its_folder_says_who_records(tmp_path: Path) -> None:
    paths = small_takes.paths(tmp_path)
    staging = reserve(paths, small_takes.declaration(LIGHT))
    assert staging == paths.task_dir / ".0.recording"
    manifest = read_manifest(staging)
    assert manifest is not None
    assert manifest.state == "recording"
    assert is_recorded(staging, manifest)
    release(staging)
    assert not is_recorded(staging, manifest)


def test_two_takes_at_once_of_one_task_are_refused(tmp_path: Path) -> None:
    paths = small_takes.paths(tmp_path)
    reserve(paths, small_takes.declaration(LIGHT))
    with pytest.raises(TaskBusyError, match="records episode 0 of this task"):
        reserve(paths, small_takes.declaration(LIGHT))
    assert [folder.name for _number, folder in paths.stagings()] == [".0.recording"]


def test_another_process_that_records_is_named(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from sinks.reservation import reserve\n"
        "from tests import small_takes\n"
        "reserve(small_takes.paths(Path(sys.argv[1])), small_takes.declaration(small_takes.LIGHT))\n"
        "print('there', flush=True); sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    with other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"there\n"
        paths = small_takes.paths(tmp_path)
        with pytest.raises(TaskBusyError, match=f"process {other.pid} records"):
            reserve(paths, small_takes.declaration(LIGHT))
        other.stdin.close()
        other.wait(10)
    assert reserve(paths, small_takes.declaration(LIGHT)).name == ".1.recording", "what it left keeps its number"


def test_many_at_once_reserve_one_number_only(tmp_path: Path) -> None:
    paths = small_takes.paths(tmp_path)
    outcomes: list[str] = []

    def work() -> None:
        try:
            outcomes.append(reserve(paths, small_takes.declaration(LIGHT)).name)
        except TaskBusyError:
            outcomes.append("busy")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [".0.recording", *["busy"] * 7]


def test_an_aborted_take_gives_its_number_back_and_says_so(tmp_path: Path) -> None:
    paths = commit_one(tmp_path)
    staging = reserve(paths, small_takes.declaration(LIGHT))
    abort_take(paths, staging)
    assert not staging.exists()
    recycled = read_recycled(paths.recycled)
    assert recycled is not None
    assert recycled.k == 1
    assert reserve(paths, small_takes.declaration(LIGHT)).name == ".1.recording"


def test_a_commit_clears_the_marker(tmp_path: Path) -> None:
    paths = commit_one(tmp_path)
    abort_take(paths, reserve(paths, small_takes.declaration(LIGHT)))
    commit_one(tmp_path)
    assert not paths.recycled.exists()


def test_an_abort_can_be_said_twice(tmp_path: Path) -> None:
    paths = small_takes.paths(tmp_path)
    staging = reserve(paths, small_takes.declaration(LIGHT))
    abort_take(paths, staging)
    abort_take(paths, staging)
    assert paths.stagings() == []


def test_a_deleted_number_is_never_used_again(tmp_path: Path) -> None:
    commit_one(tmp_path)
    paths = commit_one(tmp_path)
    delete_episode(paths.task_dir, 1)
    assert reserve(paths, small_takes.declaration(LIGHT)).name == ".2.recording"


def test_paths_of_before_the_first_commit_still_see_the_number_that_it_fixed(tmp_path: Path) -> None:
    early = small_takes.paths(tmp_path)
    paths = commit_one(tmp_path)
    delete_episode(paths.task_dir, 0)
    assert reserve(early, small_takes.declaration(LIGHT)).name == ".1.recording"


def test_streams_that_break_the_contract_are_refused_before_a_number_is_taken(tmp_path: Path) -> None:
    paths = small_takes.paths(tmp_path)
    with pytest.raises(ContractError, match="Upper"):
        reserve(paths, small_takes.declaration((VectorStream(column="observation.Upper"),)))
    assert paths.stagings() == []


def test_a_lock_that_another_holds_is_waited_for_and_then_an_error(tmp_path: Path) -> None:
    paths = small_takes.paths(tmp_path)
    with (
        task_lock(paths),
        pytest.raises(TaskBusyError, match="held the task's lock"),
        task_lock(paths, wait_s=0.05),
    ):
        pass
    with task_lock(paths, wait_s=0.05):
        pass


def test_deleting_takes_the_files_of_one_episode_and_leaves_the_rest(tmp_path: Path) -> None:
    commit_one(tmp_path)
    paths = commit_one(tmp_path)
    stats = paths.stats.read_bytes()
    info = paths.info.read_bytes()
    delete_episode(paths.task_dir, 0)
    left = sorted(path.relative_to(paths.task_dir).as_posix() for path in paths.task_dir.rglob("*episode-*"))
    assert left == [
        "data/chunk-000/episode-001.parquet",
        "meta/episodes/chunk-000/episode-001.parquet",
        "videos/chunk-000/side_rgb/episode-001.mp4",
    ]
    assert paths.stats.read_bytes() == stats
    assert paths.info.read_bytes() == info


def test_deleting_the_last_episode_leaves_no_empty_folder_but_keeps_the_number(tmp_path: Path) -> None:
    paths = commit_one(tmp_path)
    info = json.loads(paths.info.read_text())
    paths.info.write_text(json.dumps({**info, "total_episodes": 0}))
    delete_episode(paths.task_dir, 0)
    assert sorted(path.name for path in paths.task_dir.iterdir()) == ["meta"]
    assert json.loads(paths.info.read_text())["total_episodes"] == 1
    assert reserve(paths, small_takes.declaration(LIGHT)).name == ".1.recording"


def test_an_episode_that_is_not_there_cannot_be_deleted(tmp_path: Path) -> None:
    paths = commit_one(tmp_path)
    with pytest.raises(Exception, match="no episode 5"):
        delete_episode(paths.task_dir, 5)
    reserve(paths, small_takes.declaration(LIGHT))
    with pytest.raises(TaskBusyError, match="episode 1 is not committed"):
        delete_episode(paths.task_dir, 1)
