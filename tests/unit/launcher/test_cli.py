"""The commands through the door that the shell uses: arguments, words, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import launcher.mend
import launcher.record
import launcher.show
import launcher.validate
from episodes.errors import TaskBusyError
from episodes.report import Finding, Report
from launcher.cli import app
from launcher.record import Order
from sinks.recovery import Recovered

runner = CliRunner()
PARAMETERS = ["--param", "url=http://x/?a=b", "-p", "fps=25"]


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task directory without episodes."""
    path = tmp_path / "pour_water"
    (path / "meta").mkdir(parents=True)
    info = {"format": "pooled_episodes_v1", "task_name": "pour water", "fps": 30, "total_episodes": 0}
    (path / "meta" / "info.json").write_text(json.dumps(info))
    return path


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Order, bool]]:
    """What `record` was asked for."""
    found: list[tuple[Order, bool]] = []
    monkeypatch.setattr(launcher.record, "record", lambda order, *, as_json, verbose: found.append((order, as_json)))
    return found


def test_record_passes_everything_on(orders: list[tuple[Order, bool]]) -> None:
    result = runner.invoke(
        app,
        [
            "record",
            "demo",
            "--task",
            "倒水",
            "--root",
            "r",
            "--episodes",
            "3",
            "--seconds",
            "2.5",
            "--json",
            *PARAMETERS,
        ],
    )
    assert result.exit_code == 0, result.output
    params = {"url": "http://x/?a=b", "fps": "25"}
    assert orders == [
        (Order(rig="demo", task="倒水", root=Path("r"), episodes=3, seconds=2.5, params=params), True),
    ]


def test_record_has_the_documented_defaults(orders: list[tuple[Order, bool]]) -> None:
    runner.invoke(app, ["record", "demo", "--task", "t"])
    assert orders == [(Order(rig="demo", task="t", root=Path("data/recordings")), False)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["record", "demo"], "--task"),
        (["record", "demo", "--task", "t", "--seconds", "0"], "--seconds"),
        (["record", "demo", "--task", "t", "--seconds", "nan"], "--seconds"),
        (["record", "demo", "--task", "t", "--episodes", "0"], "--episodes"),
        (["record", "demo", "--task", "t", "--param", "fps"], "NAME=VALUE"),
        (["record", "demo", "--task", "t", "--param", "=3"], "NAME=VALUE"),
        (["record", "demo", "--task", "t", "--param", "a=1", "--param", "a=2"], "twice"),
        (["validate", "/nowhere/at/all"], "does not exist"),
        (["show", ".", "-1"], "-1"),
        (["fly"], "fly"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(
    arguments: list[str], words: str, orders: list[tuple[Order, bool]]
) -> None:
    result = runner.invoke(app, arguments, env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"})
    assert result.exit_code == 2
    assert words in result.stderr
    assert not orders


def test_an_unknown_rig_is_a_usage_error_in_one_line(tmp_path: Path) -> None:
    result = runner.invoke(app, ["record", "no_such_rig", "--task", "t", "--root", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert "no_such_rig" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_json_ends_with_the_error_also_where_no_session_came_to_be(tmp_path: Path) -> None:
    result = runner.invoke(app, ["record", "no_such_rig", "--task", "t", "--root", str(tmp_path), "--json"])
    assert result.exit_code == 2
    end = json.loads(result.stdout)
    assert end["event"] == "end"
    assert end["exit_code"] == 2
    assert end["episodes"] == []
    assert "no_such_rig" in end["error"]


def test_an_error_in_a_rig_file_names_file_and_line(tmp_path: Path) -> None:
    rig = tmp_path / "my_rig.py"
    rig.write_text("from rigs import Rig\n\nrig = Rig(name=1 / 0, flows=[])\n")
    result = runner.invoke(app, ["record", str(rig), "--task", "t", "--root", str(tmp_path)])
    assert result.exit_code == 2
    assert f"{rig}:3" in result.stderr
    assert "Traceback" not in result.output


def test_control_codes_of_a_rigs_error_are_shown_not_obeyed(tmp_path: Path) -> None:
    rig = tmp_path / "my_rig.py"
    rig.write_text("raise ValueError('\\x1b[2J')\n")
    result = runner.invoke(app, ["record", str(rig), "--task", "t", "--root", str(tmp_path)])
    assert "\x1b" not in result.stderr
    assert "\\x1b[2J" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "{root}"], "pour water"),
        (["show", "{task}"], "0 episodes"),
    ],
)
def test_show_takes_a_task_or_a_folder_of_tasks(task: Path, arguments: list[str], words: str) -> None:
    filled = [argument.format(task=task, root=task.parent) for argument in arguments]
    result = runner.invoke(app, filled, env={"COLUMNS": "160"})
    assert result.exit_code == 0, result.output
    assert words in result.stdout


@pytest.mark.parametrize("command", [["show", "{task}", "4"], ["delete", "{task}", "4"]])
def test_an_episode_that_is_not_there_is_a_usage_error(task: Path, command: list[str]) -> None:
    result = runner.invoke(app, [argument.format(task=task) for argument in command])
    assert result.exit_code == 2
    assert "no episode 4" in result.stderr


@pytest.mark.parametrize("command", [["show"], ["validate"], ["recover"], ["delete", "0"]])
def test_a_folder_without_tasks_is_a_usage_error(tmp_path: Path, command: list[str]) -> None:
    result = runner.invoke(app, [command[0], str(tmp_path), *command[1:]])
    assert result.exit_code == 2
    assert "meta/info.json" in result.stderr


def _judged(*findings: Finding) -> Report:
    return Report(path=Path("task"), findings=findings, episodes=(0, 1), rows=300, deep=True)


_WARNING = Finding("V1", "warning", Path("task/a"), None, "worth a look")
_ERROR = Finding("V2", "error", Path("task/videos/b.mp4"), 1, "299 frames, 300 rows")


@pytest.mark.parametrize(("report", "code"), [(_judged(), 0), (_judged(_WARNING), 0), (_judged(_WARNING, _ERROR), 1)])
def test_only_errors_fail_a_validation(task: Path, report: Report, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher.validate, "validate_task", lambda *_: report)
    result = runner.invoke(app, ["validate", str(task), "--deep"])
    assert result.exit_code == code
    assert "2 episodes, 300 rows" in result.stdout
    for finding in report.findings:
        assert finding.message in result.stdout
        assert finding.rule in result.stdout


def test_validate_json_is_a_line_a_finding_and_a_report(task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher.validate, "validate_task", lambda *_: _judged(_ERROR))
    result = runner.invoke(app, ["validate", str(task), "--json"])
    finding, report = map(json.loads, result.stdout.splitlines())
    assert (finding["event"], finding["rule"], finding["episode"]) == ("finding", "V2", 1)
    assert (report["event"], report["ok"], report["episodes"]) == ("report", False, [0, 1])
    assert result.exit_code == 1


def test_recover_tells_of_each_take_and_goes_on_after_a_busy_task(task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = task.parent / "a_busy_task"
    (other / ".0.recording").mkdir(parents=True)

    def recovered(path: Path) -> list[Recovered]:
        if path == other:
            raise TaskBusyError(f"{path}: another recorder holds it")
        return [Recovered(k=3, action="rebuilt", rows=211), Recovered(k=4, action="removed")]

    monkeypatch.setattr(launcher.mend, "recover_task", recovered)
    result = runner.invoke(app, ["recover", str(task.parent)])
    assert result.exit_code == 1
    assert "another recorder holds it" in result.stderr
    assert "take 3 rebuilt" in result.stdout
    assert "211 rows" in result.stdout
    assert "take 4" in result.stdout


def test_recover_of_a_whole_task_says_so(task: Path) -> None:
    result = runner.invoke(app, ["recover", str(task)])
    assert result.exit_code == 0
    assert "nothing to recover" in result.stdout


def test_a_file_that_may_not_be_read_is_one_sentence(task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path / "meta"))

    monkeypatch.setattr(launcher.show, "open_task", refused)
    result = runner.invoke(app, ["show", str(task)])
    assert result.exit_code == 1
    assert result.stderr == f"error: {task / 'meta'}: Permission denied\n"


def test_version_and_help_say_what_they_should() -> None:
    assert runner.invoke(app, ["--version"]).stdout.startswith("rigflow ")
    told = runner.invoke(app, ["--help"]).stdout
    for command in ("rigs", "record", "show", "validate", "recover", "delete"):
        assert command in told


def test_recover_fails_while_something_is_left(task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Recovered(k=5, action="kept", message="its manifest cannot be read")
    monkeypatch.setattr(launcher.mend, "recover_task", lambda _: [kept])
    result = runner.invoke(app, ["recover", str(task)])
    assert result.exit_code == 1
    assert "its manifest cannot be read" in result.stdout


def test_a_take_that_was_never_saved_is_shown_as_such(tmp_path: Path) -> None:
    (tmp_path / "pour_water" / ".0.recording").mkdir(parents=True)
    result = runner.invoke(app, ["show", str(tmp_path)])
    assert result.exit_code == 0
    assert "rigflow recover" in result.stdout
