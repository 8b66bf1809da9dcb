from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from episodes.errors import ContractError
from episodes.numbering import MAX_K, EpisodeNumber
from episodes.paths import DATA_PATH, VIDEO_PATH, TaskPaths, find_tasks, next_number
from episodes.recycled import recycled_json

TASK = Path("/task")


def touch(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def commit(paths: TaskPaths, k: int, *slots: str) -> None:
    number = EpisodeNumber(k)
    touch(paths.data(number))
    touch(paths.episode_row(number))
    for slot in slots:
        touch(paths.video(number, slot, "mp4"))


def recycle(paths: TaskPaths, k: int) -> None:
    paths.recycled.parent.mkdir(parents=True, exist_ok=True)
    paths.recycled.write_text(recycled_json(EpisodeNumber(k), 0.0))


def next_k(paths: TaskPaths, **info: Any) -> int:
    return next_number(paths, info or None).k


def test_the_files_of_an_episode_stand_where_the_layout_says() -> None:
    paths = TaskPaths(TASK)

    assert paths.data(EpisodeNumber(0)) == TASK / "data/chunk-000/episode-000.parquet"
    assert paths.data(EpisodeNumber(1000)) == TASK / "data/chunk-001/episode-000.parquet"
    assert paths.episode_row(EpisodeNumber(999)) == TASK / "meta/episodes/chunk-000/episode-999.parquet"
    assert paths.video(EpisodeNumber(1001), "头_rgb", "mkv") == TASK / "videos/chunk-001/头_rgb/episode-001.mkv"
    assert paths.staging(EpisodeNumber(12)) == TASK / ".12.recording"
    assert paths.info == TASK / "meta/info.json"
    assert paths.stats == TASK / "meta/stats.json"
    assert paths.tasks == TASK / "meta/tasks.jsonl"
    assert paths.recycled == TASK / "meta/recycled_episode.json"
    assert paths.lock == TASK / "meta/episodes/.lock"


@pytest.mark.parametrize(("slot", "extension"), [("../x", "mp4"), ("a/b", "mp4"), ("a", "mp4/../.."), ("a", "exe")])
def test_no_slot_or_extension_leads_out_of_the_task(slot: str, extension: str) -> None:
    with pytest.raises(ContractError, match="slot"):
        TaskPaths(TASK).video(EpisodeNumber(0), slot, extension)


def test_chunks_size_and_templates_are_the_tasks_own(tmp_path: Path) -> None:
    info = {
        "chunks_size": 10,
        "data_path": "rows/{c}/e{f:04d}.parquet",
        "video_path": "film/{image_key}/{c:02d}/{f:02d}.{ext}",
        "episodes_path": "meta/e/{c}-{f}.parquet",
    }
    paths = TaskPaths.of(tmp_path, info)

    commit(paths, 27, "a_rgb")

    assert paths.data(EpisodeNumber(27)) == tmp_path / "rows/2/e0007.parquet"
    assert paths.videos(EpisodeNumber(27)) == {"a_rgb": tmp_path / "film/a_rgb/02/07.mp4"}
    assert paths.data_numbers() == paths.row_numbers() == paths.video_numbers() == {EpisodeNumber(27)}
    assert next_k(paths, **info) == 28


@pytest.mark.parametrize(
    "template",
    [
        "/etc/{c}/{f}",
        "../{c}/{f}",
        "a/../../{c}/{f}",
        "a\\{c}\\{f}",
        "a\0/{c}/{f}",
        "data/{f}.parquet",
        "data/{c}.parquet",
        "data/{c}/{f}/{c}",
        "data/{c}/{f}/{x}",
        "data/{c}/{f.__class__}",
        "data/{c}/{f[0]}",
        "data/{c}/{f!r}",
        "data/{c}/{f:>9}",
        "data/{c}/{f:3d}",
        "data/{c}/{f:{c}d}",
        "data/{c}{f}",
        "data/{c}/{}",
        "data/{c}/{f",
        ".data/{c}/{f}",
        "data/{c}/{f:0999999999d}",
        "",
    ],
)
def test_a_template_that_escapes_or_confuses_is_refused(template: str) -> None:
    with pytest.raises(ContractError, match=r"info\.json"):
        TaskPaths.of(TASK, {"data_path": template})


@pytest.mark.parametrize(
    "info",
    [
        {"chunks_size": 0},
        {"chunks_size": 10**7},
        {"chunks_size": True},
        {"chunks_size": 10.0},
        {"chunks_size": "10"},
        {"data_path": 3},
        {"video_path": VIDEO_PATH.replace("{image_key}", "x")},
        {"video_path": VIDEO_PATH.replace("{ext}", "mp4")},
        {"episodes_path": DATA_PATH},
    ],
)
def test_an_info_whose_paths_cannot_be_used_is_refused(info: Mapping[str, Any]) -> None:
    with pytest.raises(ContractError, match=r"info\.json"):
        TaskPaths.of(TASK, info)


TEMPLATES = st.text(st.sampled_from("abc./\\{}:dcf0-_ \0"), max_size=30)


@given(TEMPLATES)
@example("{c}/..{f}")
@example("a/{c}/./{f}/..")
@example("~/{c}/{f}")
def test_a_template_is_refused_or_stays_in_the_task(template: str) -> None:
    try:
        paths = TaskPaths.of(TASK, {"data_path": template})
    except ContractError:
        return
    seen = {paths.data(EpisodeNumber(k)) for k in (0, 1, 999, 1000, 1001, 123_456)}
    assert len(seen) == 6
    for path in seen:
        assert ".." not in path.parts
        assert path.is_relative_to(TASK)
        assert path != TASK


NUMBERS = st.sets(st.integers(0, 5000), max_size=5)


@given(
    data=NUMBERS,
    video=NUMBERS,
    row=NUMBERS,
    staged=NUMBERS,
    total=st.integers(0, 6000),
    size=st.sampled_from([7, 1000]),
)
def test_the_next_number_is_one_above_everything_that_is_or_was(
    tmp_path_factory: pytest.TempPathFactory,
    data: set[int],
    video: set[int],
    row: set[int],
    staged: set[int],
    total: int,
    size: int,
) -> None:
    paths = TaskPaths(tmp_path_factory.mktemp("task"), size)
    for k in data:
        touch(paths.data(EpisodeNumber(k)))
    for k in video:
        touch(paths.video(EpisodeNumber(k), "a_rgb", "mp4"))
    for k in row:
        touch(paths.episode_row(EpisodeNumber(k)))
    for k in staged:
        paths.staging(EpisodeNumber(k)).mkdir()

    assert paths.data_numbers() == {EpisodeNumber(k) for k in data}
    assert paths.taken_numbers() == {EpisodeNumber(k) for k in data | video | row | staged}
    assert next_k(paths, total_episodes=total) == max({total, *(k + 1 for k in data | video | row | staged)})


def test_the_first_take_of_a_task_is_episode_zero(tmp_path: Path) -> None:
    assert next_k(TaskPaths(tmp_path / "not there")) == 0
    assert next_k(TaskPaths(tmp_path)) == 0


def test_numbers_go_on_across_a_chunk(tmp_path: Path) -> None:
    paths = TaskPaths(tmp_path)
    commit(paths, 998)
    commit(paths, 999, "a_rgb")
    assert next_k(paths) == 1000

    commit(paths, 1000, "a_rgb")

    assert (tmp_path / "data/chunk-001/episode-000.parquet").exists()
    assert next_k(paths) == 1001


def test_a_deleted_highest_number_is_not_used_again(tmp_path: Path) -> None:
    assert next_k(TaskPaths(tmp_path), total_episodes=12) == 12


def test_an_orphan_keeps_its_number(tmp_path: Path) -> None:
    paths = TaskPaths(tmp_path)
    touch(paths.data(EpisodeNumber(5)))

    assert next_k(paths, total_episodes=3) == 6


def test_a_half_written_video_keeps_its_number(tmp_path: Path) -> None:
    touch(tmp_path / "videos/chunk-000/a_rgb/episode-007.mp4.tmp")

    assert next_k(TaskPaths(tmp_path)) == 8


def test_a_take_being_recorded_keeps_its_number(tmp_path: Path) -> None:
    paths = TaskPaths(tmp_path)
    paths.staging(EpisodeNumber(3)).mkdir()

    assert paths.stagings() == [(EpisodeNumber(3), tmp_path / ".3.recording")]
    assert next_k(paths, total_episodes=3) == 4


def test_an_aborted_takes_number_is_taken_again(tmp_path: Path) -> None:
    paths = TaskPaths(tmp_path)
    commit(paths, 0)
    recycle(paths, 1)

    assert next_k(paths, total_episodes=1) == 1


@pytest.mark.parametrize("what", ["data", "video", "row", "staging"])
def test_a_marker_is_stale_when_anything_of_its_number_exists(tmp_path: Path, what: str) -> None:
    paths, number = TaskPaths(tmp_path), EpisodeNumber(4)
    recycle(paths, 4)
    if what == "staging":
        paths.staging(number).mkdir()
    else:
        where = {"data": paths.data(number), "video": paths.video(number, "a", "mkv"), "row": paths.episode_row(number)}
        touch(where[what])

    assert next_k(paths) == 5


def test_a_marker_is_stale_when_its_number_was_completed_and_deleted(tmp_path: Path) -> None:
    paths = TaskPaths(tmp_path)
    recycle(paths, 2)

    assert next_k(paths, total_episodes=3) == 3


def test_a_marker_below_a_higher_take_is_used_when_it_was_never_completed(tmp_path: Path) -> None:
    paths = TaskPaths(tmp_path)
    paths.staging(EpisodeNumber(3)).mkdir()
    recycle(paths, 2)

    assert next_k(paths, total_episodes=2) == 2


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"episode_index": 0}', '{"episode_index": "3"}', '{"episode_index": 1e400}', "[" * 4000]
)
def test_a_damaged_marker_is_none(tmp_path: Path, text: str) -> None:
    paths = TaskPaths(tmp_path)
    paths.recycled.parent.mkdir(parents=True)
    paths.recycled.write_text(text)

    assert next_k(paths) == 0


@pytest.mark.parametrize("total", [True, "7", 1.0, None])
def test_a_total_that_is_no_number_is_refused_instead_of_taking_a_used_number(tmp_path: Path, total: object) -> None:
    with pytest.raises(ContractError, match="total_episodes"):
        next_number(TaskPaths(tmp_path), {"total_episodes": total})


def test_numbers_beyond_all_bounds_are_refused_not_wrapped(tmp_path: Path) -> None:
    touch(tmp_path / f"data/chunk-{10**9 - 1}/episode-999.parquet")

    with pytest.raises(ContractError, match=str(MAX_K + 1)):
        next_k(TaskPaths(tmp_path))


@pytest.mark.parametrize(
    "foreign",
    [
        "data/chunk-000/episode-abc.parquet",
        "data/chunk-000/file-009.parquet",
        "data/chunk-000/.episode-009.parquet.tmp",
        "data/chunk-000/episode-009.parquet.tmp",
        "data/chunk-x/episode-009.parquet",
        "data/chunk-000/episode-\u0669.parquet",
        "data/chunk-000/deeper/episode-009.parquet",
        "data/episode-009.parquet",
        "videos/chunk-000/.a_rgb/episode-009.mp4",
        "videos/chunk-000/a_rgb/episode-.mp4",
        "meta/episodes/.lock",
        ".x.recording/data",
        ".9.recordings/data",
    ],
)
def test_foreign_names_take_no_number(tmp_path: Path, foreign: str) -> None:
    touch(tmp_path / foreign)

    assert next_k(TaskPaths(tmp_path)) == 0


def test_an_episodes_videos_are_listed_from_its_own_files(tmp_path: Path) -> None:
    paths = TaskPaths(tmp_path)
    commit(paths, 0, "b_rgb", "a_rgb")
    commit(paths, 1, "c_rgb")
    touch(paths.video(EpisodeNumber(0), "a_depth", "mkv"))
    touch(tmp_path / "videos/chunk-000/.hidden/episode-000.mp4")
    (tmp_path / "videos/chunk-000/folder/episode-000.mp4").mkdir(parents=True)

    assert list(paths.videos(EpisodeNumber(0))) == ["a_depth", "a_rgb", "b_rgb"]
    assert paths.videos(EpisodeNumber(0))["a_depth"].suffix == ".mkv"
    assert list(paths.videos(EpisodeNumber(1))) == ["c_rgb"]
    assert paths.videos(EpisodeNumber(2)) == {}


def test_every_file_with_an_episodes_number_is_found_for_deletion(tmp_path: Path) -> None:
    paths = TaskPaths(tmp_path)
    folder = tmp_path / "videos/chunk-000/a_rgb"
    for name in ("episode-001.mp4", "episode-001.mkv", "episode-001.mp4.tmp", "episode-010.mp4", "episode-0011.mp4"):
        touch(folder / name)
    (folder / "episode-001.folder").mkdir()

    assert [path.name for path in paths.video_files(EpisodeNumber(1))] == [
        "episode-001.mkv",
        "episode-001.mp4",
        "episode-001.mp4.tmp",
    ]


def test_tasks_are_found_by_their_info_and_hidden_names_are_none(tmp_path: Path) -> None:
    for name in ("b", "a", "_trash", ".hidden", "no_info"):
        (tmp_path / name / "meta").mkdir(parents=True)
        if name != "no_info":
            (tmp_path / name / "meta" / "info.json").write_text(json.dumps({}))
    (tmp_path / "file").touch()

    assert find_tasks(tmp_path) == [tmp_path / "a", tmp_path / "b"]
    assert find_tasks(tmp_path / "not there") == []
