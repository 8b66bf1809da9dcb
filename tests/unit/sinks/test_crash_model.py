"""A crash at every step of a commit, a recovery, an abort, a deletion: by kill, and by power cut.

After each, recovery must find: committed episodes as they were, the take wholly there or wholly gone, numbers right,
statistics counted once, no staging left.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from episodes.paths import TaskPaths, next_number
from episodes.staging import find_stagings
from episodes.streams import MatrixStream, Stream, VectorStream, VideoStream
from episodes.validator import validate_task
from episodes.video import VideoReader
from operators.rows import Row
from sinks.commit import commit_staging
from sinks.deletion import delete_episode
from sinks.heavy_chunks import read_row_groups
from sinks.recovery import recover_task
from sinks.reservation import abort_take, release
from sinks.reservation import reserve as reserve_number
from sinks.video_trim import trim_video
from tests import small_takes
from tests.crash_disk import QUICK, Crash, CrashDisk, power_cuts

STREAMS: tuple[Stream, ...] = (
    VideoStream(slot="side_rgb"),
    VectorStream(column="observation.level", dtype="int64"),
    MatrixStream(column="observation.gripper_left_force_matrix"),
)
ROWS = 7
FIRST_SAMPLES = 3  # rows 0, 2, 4 of the first episode's five


@dataclass(frozen=True)
class Scene:
    """A task with one episode and a take in staging, closed and not committed; copied for every crash."""

    template: Path
    before: dict[str, bytes]

    def copy(self, root: Path) -> Path:
        task = root / "pour_water"
        if task.exists():
            shutil.rmtree(task)
        shutil.copytree(self.template, task)
        return task


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    root = tmp_path_factory.mktemp("scene")
    paths, staging = small_takes.record(root, 5, STREAMS)
    commit_staging(paths, staging)
    paths, staging = small_takes.record(root, ROWS, STREAMS)
    release(staging)
    before = {
        str(path.relative_to(paths.task_dir)): path.read_bytes()
        for path in sorted(paths.task_dir.rglob("*"))
        if path.is_file() and ".recording" not in str(path) and path.name != ".lock"
    }
    return Scene(paths.task_dir, before)


def run(task: Path, work: Callable[[CrashDisk], object], crash_at: int | None) -> tuple[CrashDisk, bool]:
    """Do the work on a disk that crashes at a step; gives the disk, and whether it crashed."""
    disk = CrashDisk(task, crash_at=crash_at)
    try:
        work(disk)
    except Crash:
        return disk, True
    return disk, False


def commit_on(task: Path) -> Callable[[CrashDisk], object]:
    paths = small_takes.paths(task.parent)
    return lambda disk: commit_staging(paths, paths.task_dir / ".1.recording", disk=disk)


def recover_on(task: Path) -> Callable[[CrashDisk], object]:
    return lambda disk: recover_task(task, disk=disk)


def check(task: Path, scene: Scene, *, episode: bool | None = None, rows: int | None = None) -> bool:
    """Whether episode 1 is there, after having seen that the task is whole either way."""
    paths = small_takes.paths(task.parent)
    info = json.loads(paths.info.read_text())
    stats = json.loads(paths.stats.read_text())
    for name, content in scene.before.items():
        if name not in ("meta/info.json", "meta/stats.json"):
            assert (task / name).read_bytes() == content, f"{name} of a committed episode was touched"
    assert find_stagings(paths) == []
    second = [path for path in task.rglob("*episode-001*") if path.is_file()]
    if not second:
        assert paths.info.read_bytes() == scene.before["meta/info.json"]
        assert paths.stats.read_bytes() == scene.before["meta/stats.json"]
        assert next_number(paths, info).k == 1
        assert episode is not True, "a take that was decided, or killed after its rows were saved, is lost"
        return False
    assert len(second) == 3
    table = pq.read_table(task / "data/chunk-000/episode-001.parquet")
    row = pq.read_table(task / "meta/episodes/chunk-000/episode-001.parquet").to_pylist()[0]
    assert table.num_rows == row["length"]
    assert rows is None or table.num_rows == rows
    with VideoReader(task / "videos/chunk-000/side_rgb/episode-001.mp4", kind="rgb") as video:
        assert len(video) == table.num_rows
    samples = (table.num_rows + 1) // 2
    assert stats["observation.level"]["count"] == FIRST_SAMPLES + samples, "statistics not counted exactly once"
    matrices = table.column("observation.gripper_left_force_matrix")
    assert pc.list_value_length(matrices).to_pylist() == [187_500 * (i % 2 == 0) for i in range(table.num_rows)]
    assert info["total_episodes"] == 2
    assert next_number(paths, info).k == 2
    return True


def steps_of(scene: Scene, root: Path, work: Callable[[Path], Callable[[CrashDisk], object]]) -> int:
    task = scene.copy(root)
    disk, crashed = run(task, work(task), None)
    assert not crashed
    return disk.steps


def test_a_commit_without_a_crash_is_whole_and_valid(scene: Scene, tmp_path: Path) -> None:
    task = scene.copy(tmp_path)
    run(task, commit_on(task), None)
    assert check(task, scene, episode=True, rows=ROWS)
    assert [f for f in validate_task(task, deep=True).findings if f.severity in ("error", "warning")] == []


def test_a_kill_at_every_step_of_a_commit_leaves_the_whole_take(scene: Scene, tmp_path: Path) -> None:
    steps = steps_of(scene, tmp_path, commit_on)
    assert steps > 20
    for crash_at in range(steps):
        task = scene.copy(tmp_path)
        _disk, crashed = run(task, commit_on(task), crash_at)
        assert crashed
        recover_task(task, disk=QUICK)
        assert check(task, scene, episode=True, rows=ROWS), crash_at
        errors = [f for f in validate_task(task).findings if f.severity == "error"]
        assert errors == [], crash_at


def test_a_second_kill_during_recovery_changes_nothing(scene: Scene, tmp_path: Path) -> None:
    _second_kills(scene, tmp_path, every=5)


@pytest.mark.slow
def test_a_second_kill_at_every_step_of_every_recovery_changes_nothing(scene: Scene, tmp_path: Path) -> None:
    _second_kills(scene, tmp_path, every=1)


def _second_kills(scene: Scene, tmp_path: Path, *, every: int) -> None:
    steps = steps_of(scene, tmp_path, commit_on)
    tried = 0
    for crash_at in range(0, steps, every):
        second = crash_at % every
        while True:
            task = scene.copy(tmp_path)
            run(task, commit_on(task), crash_at)
            _disk, crashed = run(task, recover_on(task), second)
            if not crashed:
                break
            recover_task(task, disk=QUICK)
            assert check(task, scene, episode=True, rows=ROWS), (crash_at, second)
            tried += 1
            second += every
    assert tried > 10


def test_a_power_cut_at_every_step_of_a_commit_leaves_all_or_nothing(scene: Scene, tmp_path: Path) -> None:
    _power_cuts(scene, tmp_path, every=4)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_any_power_cut_at_any_step_of_a_commit_leaves_all_or_nothing(scene: Scene, tmp_path: Path) -> None:
    _power_cuts(scene, tmp_path, every=1)


def _power_cuts(scene: Scene, tmp_path: Path, *, every: int) -> None:
    steps = steps_of(scene, tmp_path, commit_on)
    tried = 0
    for crash_at in range(steps):
        cuts = 0
        for number, cut in enumerate(power_cuts(_pending(scene, tmp_path, crash_at), crash_at)):
            if (number + crash_at) % every:
                continue
            task = scene.copy(tmp_path)
            disk, _crashed = run(task, commit_on(task), crash_at)
            decided = _durably_prepared(disk)
            disk.cut_power(cut)
            recover_task(task, disk=QUICK)
            # A closed take was synced by nobody yet, but its files did reach the disk in this model's beginning.
            assert check(task, scene, episode=True if decided else None, rows=ROWS), (crash_at, cut)
            cuts += 1
        tried += cuts
    assert tried > steps


def _pending(scene: Scene, root: Path, crash_at: int) -> int:
    task = scene.copy(root)
    disk, _crashed = run(task, commit_on(task), crash_at)
    return len(disk.pending)


def _durably_prepared(disk: CrashDisk) -> bool:
    node = disk.names.get(disk.root / ".1.recording" / "manifest.json")
    return node is None or b'"state": "recording"' not in (node.durable or b"")


@pytest.mark.parametrize("suffix", [".mp4", ".arrow", ".parquet"])
def test_a_power_cut_that_loses_a_recorded_file_costs_this_take_only(scene: Scene, tmp_path: Path, suffix: str) -> None:
    steps = steps_of(scene, tmp_path, commit_on)
    there = 0
    for crash_at in range(0, steps, 3):
        for content in ("nothing", "half"):
            task = scene.copy(tmp_path)
            disk, _crashed = run(task, commit_on(task), crash_at)
            decided = _durably_prepared(disk)
            if not decided:
                for path, node in disk.names.items():
                    if ".recording" in str(path) and path.suffix == suffix and node.durable is not None:
                        node.durable = b"" if content == "nothing" else node.durable[: len(node.durable) // 2]
            disk.cut_power(next(iter(power_cuts(0, 0))))
            recover_task(task, disk=QUICK)
            there += check(task, scene, episode=True if decided else None, rows=ROWS if decided else None)
    assert there


def test_a_kill_at_every_step_of_an_abort_frees_the_number(scene: Scene, tmp_path: Path) -> None:
    def abort(task: Path) -> Callable[[CrashDisk], object]:
        paths = small_takes.paths(task.parent)
        return lambda disk: abort_take(paths, task / ".1.recording", disk=disk)

    steps = steps_of(scene, tmp_path, abort)
    for crash_at in range(steps + 1):
        task = scene.copy(tmp_path)
        disk, crashed = run(task, abort(task), crash_at)
        aborted = not crashed or b'"aborted"' in _manifest(task)
        recover_task(task, disk=QUICK)
        assert check(task, scene, rows=ROWS) is not aborted
        assert disk.steps


def _manifest(task: Path) -> bytes:
    path = task / ".1.recording" / "manifest.json"
    return path.read_bytes() if path.exists() else b'"aborted"'


def test_a_kill_at_every_step_of_a_reservation_leaves_a_task_that_can_go_on(scene: Scene, tmp_path: Path) -> None:
    def reserve(task: Path) -> Callable[[CrashDisk], object]:
        paths = small_takes.paths(task.parent)
        return lambda disk: reserve_number(paths, small_takes.declaration(STREAMS), disk=disk)

    def fresh() -> Path:
        task = scene.copy(tmp_path)
        shutil.rmtree(task / ".1.recording")
        return task

    task = fresh()
    disk, _crashed = run(task, reserve(task), None)
    release(task / ".1.recording")
    for crash_at in range(disk.steps):
        task = fresh()
        run(task, reserve(task), crash_at)
        release(task / ".1.recording")
        recover_task(task, disk=QUICK)
        assert not check(task, scene)


def test_a_kill_at_every_step_of_a_deletion_ends_in_a_deleted_episode(scene: Scene, tmp_path: Path) -> None:
    def delete_on(task: Path) -> Callable[[CrashDisk], object]:
        return lambda disk: delete_episode(task, 1, disk=disk)

    def prepared() -> Path:
        task = scene.copy(tmp_path)
        commit_staging(small_takes.paths(task.parent), task / ".1.recording", disk=QUICK)
        return task

    task = prepared()
    disk, _crashed = run(task, delete_on(task), None)
    for crash_at in range(disk.steps):
        task = prepared()
        run(task, delete_on(task), crash_at)
        if any(path.is_file() for path in task.rglob("*episode-001*")):
            delete_episode(task, 1, disk=QUICK)
        assert not any(path.is_file() for path in task.rglob("*episode-001*"))
        for name, content in scene.before.items():
            if not name.startswith("meta/") or name.startswith("meta/episodes"):
                assert (task / name).read_bytes() == content
        paths = small_takes.paths(task.parent)
        assert next_number(paths, json.loads(paths.info.read_text())).k == 2, "a completed number was used again"


def test_the_matrices_of_a_recovered_take_are_those_that_were_recorded(scene: Scene, tmp_path: Path) -> None:
    task = scene.copy(tmp_path)
    recover_task(task, disk=QUICK)
    table = pq.read_table(task / "data/chunk-000/episode-001.parquet")
    values = np.array(table.column("observation.gripper_left_force_matrix")[2].as_py(), np.int16)
    codes = np.cumsum(values.reshape(250, 750), axis=1)
    assert np.array_equal(codes.reshape(250, 250, 3), np.rint(small_takes.matrix(2) * 100))


def test_a_kill_while_a_cut_take_is_recovered_costs_no_further_row(scene: Scene, tmp_path: Path) -> None:
    def cut() -> Path:
        task = scene.copy(tmp_path)
        video = task / ".1.recording" / "videos" / "side_rgb.mp4"
        trim_video(video, video.with_name("short.mp4"), 4, small_takes.FPS)
        video.with_name("short.mp4").rename(video)
        return task

    task = cut()
    disk, _crashed = run(task, recover_on(task), None)
    assert check(task, scene, episode=True, rows=4)
    for crash_at in range(disk.steps):
        task = cut()
        run(task, recover_on(task), crash_at)
        recover_task(task, disk=QUICK)
        assert check(task, scene, episode=True, rows=4), crash_at


def test_a_kill_while_a_take_without_any_matrix_is_committed_leaves_the_whole_take(tmp_path: Path) -> None:
    def silent() -> TaskPaths:
        shutil.rmtree(tmp_path, ignore_errors=True)
        tmp_path.mkdir()
        shutil.copytree(template, tmp_path / "pour_water")
        return small_takes.paths(tmp_path)

    made, staging, writer = small_takes.start(tmp_path / "made", STREAMS)
    for index in range(1, 2 * ROWS, 2):
        row = small_takes.row(index, STREAMS)
        assert writer.write(Row(replace(row.tick, index=index // 2), row.values))
    writer.close()
    release(staging)
    template = tmp_path.parent / "template"
    shutil.copytree(made.task_dir, template)
    paths = silent()
    disk, _crashed = run(paths.task_dir, lambda disk: recover_task(paths.task_dir, disk=disk), None)
    for crash_at in range(disk.steps):
        paths = silent()
        run(paths.task_dir, recover_on(paths.task_dir), crash_at)
        recover_task(paths.task_dir, disk=QUICK)
        table = pq.read_table(paths.task_dir / "data/chunk-000/episode-000.parquet")
        assert table.num_rows == ROWS
        assert "observation.gripper_left_force_matrix" not in table.column_names


def test_a_power_cut_that_spoils_recorded_matrices_costs_only_the_rows_behind(tmp_path: Path) -> None:
    paths, staging = small_takes.record(tmp_path, 60, STREAMS)
    release(staging)
    groups = read_row_groups(staging, ["observation.gripper_left_force_matrix"], verify=True)
    chunks = staging / "data.parquet"
    content = bytearray(chunks.read_bytes())
    content[groups[0].end :] = bytes(len(content) - groups[0].end)
    chunks.write_bytes(content)
    (recovered,) = recover_task(paths.task_dir, disk=QUICK)
    assert recovered.action == "rebuilt"
    assert 0 < recovered.rows == groups[0].rows < 60
    assert "cut" in recovered.message
    assert [f for f in validate_task(paths.task_dir, deep=True).findings if f.severity == "error"] == []
