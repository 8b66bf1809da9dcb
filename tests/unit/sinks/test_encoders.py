from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest

from episodes.errors import ContractError
from operators.events import Frame
from sinks import encoder_probe, encoders
from sinks.encoder_probe import Rates, measure
from sinks.encoders import EncoderPlan, choose_encoders
from sinks.video_settings import DEPTH_CODECS, VIDEO_CODECS, VideoSettings, depth_settings, video_settings
from tests.numbered_pictures import colour_frame, depth_frame

COLOUR = {"left": colour_frame(0), "right": colour_frame(1)}
DEPTH = {"deep": depth_frame(0)}
DEPTH_SLOTS = frozenset(DEPTH)


class _Machine:
    """Stands for the measurement: frames a second that each encoder reaches here; remembers what was measured."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fps: dict[str, float], *, broken: frozenset[str]) -> None:
        self.asked: list[dict[str, str]] = []
        self._fps = fps

        def rates(frames: dict[str, Frame], settings: dict[str, VideoSettings], rate: float) -> Rates:
            self.asked.append({slot: found.encoder for slot, found in settings.items()})
            return Rates({slot: self._fps[found.encoder] for slot, found in settings.items()}, 24, 0.5)

        monkeypatch.setattr(encoders, "measure", rates)
        monkeypatch.setattr(encoders, "encoder_works", lambda name: name not in broken)


NO_NVENC = frozenset({"hevc_nvenc"})
FAST = {"hevc_nvenc": 900.0, "libx265": 90.0, "libx264": 400.0, "ffv1": 300.0}
SLOW = {"hevc_nvenc": 900.0, "libx265": 59.0, "libx264": 400.0, "ffv1": 300.0}


def _choose(frames: dict[str, Frame], **options: object) -> EncoderPlan:
    return choose_encoders(frames, depth_slots=DEPTH_SLOTS & frozenset(frames), fps=30, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fps", "broken", "chosen"),
    [
        (FAST, frozenset(), "hevc_nvenc"),
        (FAST, NO_NVENC, "libx265"),
        (SLOW, NO_NVENC, "libx264"),
        (FAST, NO_NVENC | {"libx265"}, "libx264"),
        ({**FAST, "hevc_nvenc": 20.0}, frozenset(), "libx265"),
    ],
)
def test_auto_takes_the_first_encoder_that_leaves_half_of_its_budget_free(
    monkeypatch: pytest.MonkeyPatch, fps: dict[str, float], broken: frozenset[str], chosen: str
) -> None:
    _Machine(monkeypatch, fps, broken=broken)
    plan = _choose(COLOUR)
    assert plan.colour.encoder == chosen
    assert plan.selected_by == "auto"


def test_depth_is_hevc_where_there_is_time_and_ffv1_where_not(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = _Machine(monkeypatch, FAST, broken=NO_NVENC)
    plan = _choose(COLOUR | DEPTH)
    assert plan.of("deep") == DEPTH_CODECS["hevc-lossless"]
    # All slots were timed together, as they will run.
    assert machine.asked[-1] == {"left": "libx265", "right": "libx265", "deep": "libx265"}
    _Machine(monkeypatch, SLOW, broken=NO_NVENC)
    plan = _choose(COLOUR | DEPTH)
    assert plan.of("deep") == DEPTH_CODECS["ffv1"]
    assert plan.depth_probe["passed"] is False
    assert plan.depth_probe["threshold_fps"] == 60


def test_depth_must_not_cost_a_colour_slot_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    _Machine(monkeypatch, {**FAST, "libx264": 40.0}, broken=NO_NVENC)
    assert _choose(COLOUR | DEPTH, video_codec="libx264").of("deep").encoder == "ffv1"


def test_nothing_is_measured_for_what_a_rig_names(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = _Machine(monkeypatch, SLOW, broken=NO_NVENC)
    plan = _choose(COLOUR | DEPTH, video_codec="libx264", depth_codec="hevc", depth_quality="qp6")
    assert machine.asked == []
    assert plan.of("left") == VIDEO_CODECS["libx264"]
    assert plan.of("deep") == DEPTH_CODECS["hevc-qp6"]
    assert plan.as_json() == {
        "encoder": "libx264",
        "codec": "H.264",
        "crf": 23,
        "selected_by": "x264",
        "depth": {"deep": {"codec": "HEVC (Rext) gray12le", "qp": 6, "format": "12bit log codes"}},
    }


def test_a_rig_of_depth_alone_measures_only_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = _Machine(monkeypatch, FAST, broken=NO_NVENC)
    assert _choose(DEPTH).of("deep").encoder == "libx265"
    assert machine.asked == [{"deep": "libx265"}]


@pytest.mark.parametrize(("extension", "kept"), [("mkv", "ffv1"), ("mp4", "hevc-lossless")])
def test_the_task_s_first_episode_fixes_the_depth_codec(
    monkeypatch: pytest.MonkeyPatch, extension: str, kept: str
) -> None:
    _Machine(monkeypatch, SLOW, broken=NO_NVENC)
    plan = _choose(COLOUR | DEPTH, fixed_extensions={"deep": extension, "gone": "mp4"})
    assert plan.of("deep") == DEPTH_CODECS[kept]


@pytest.mark.parametrize(("extension", "wanted"), [("mkv", "hevc"), ("mp4", "ffv1")])
def test_another_depth_codec_than_the_task_s_is_refused_by_slot(extension: str, wanted: str) -> None:
    with pytest.raises(ContractError, match=rf"deep: the task's first episode stored depth as \.{extension}"):
        _choose(DEPTH, depth_codec=wanted, fixed_extensions={"deep": extension})


def test_the_probe_is_kept_as_the_episodes_row_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _Machine(monkeypatch, FAST, broken=NO_NVENC)
    told = _choose(COLOUR | DEPTH).as_json()
    assert told["selected_by"] == "auto"
    assert told["probe"] == {
        "kind": "x265",
        "per_stream_fps": {"left": 90.0, "right": 90.0},
        "min_fps": 90.0,
        "passed": True,
        "threshold_fps": 60.0,
        "streams": 2,
        "frames": 24,
        "elapsed_s": 0.5,
    }
    assert json.loads(json.dumps(told)) == told
    _Machine(monkeypatch, FAST, broken=frozenset())
    assert _choose(COLOUR).as_json()["probe"] == {"kind": "nvenc", "ok": True}


def test_a_plan_survives_json(monkeypatch: pytest.MonkeyPatch) -> None:
    _Machine(monkeypatch, FAST, broken=NO_NVENC)
    plan = _choose(COLOUR | DEPTH)
    assert msgspec.json.decode(msgspec.json.encode(plan), type=EncoderPlan) == plan


def test_pictures_of_odd_size_are_refused_when_the_take_is_armed() -> None:
    with pytest.raises(ContractError, match="left: pictures of 97×65"):
        _choose({"left": colour_frame(0, 65, 97)}, video_codec="libx264")


@pytest.mark.parametrize("name", ["mpeg4", "", "h264_vaapi"])
def test_an_encoder_that_is_not_known_is_refused_with_those_that_are(name: str) -> None:
    with pytest.raises(ContractError, match="libx264"):
        video_settings(name)


def test_an_encoder_that_does_not_work_here_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "encoder_works", lambda name: False)
    with pytest.raises(ContractError, match="does not work on this machine"):
        _choose(COLOUR, video_codec="hevc_nvenc")


@pytest.mark.parametrize(("codec", "quality"), [("h264", "lossless"), ("hevc", "qp7"), ("", "")])
def test_a_depth_codec_that_is_not_known_is_refused(codec: str, quality: str) -> None:
    with pytest.raises(ContractError, match="depth_codec"):
        depth_settings(codec, quality)


def test_the_measurement_encodes_every_slot() -> None:
    settings = {"left": VIDEO_CODECS["libx264"], "right": VIDEO_CODECS["libx265"], "deep": DEPTH_CODECS["ffv1"]}
    rates = measure(COLOUR | DEPTH, settings, 30)
    assert set(rates.per_slot) == set(settings)
    assert rates.slowest() > 0
    assert 6 <= rates.frames <= 3 * encoder_probe.PROBE_FRAMES


def test_a_slot_whose_encoder_fails_is_the_slowest() -> None:
    broken = msgspec.structs.replace(VIDEO_CODECS["libx264"], options={"preset": "no-such-preset"})
    rates = measure(COLOUR, {"left": VIDEO_CODECS["libx264"], "right": broken}, 30)
    assert rates.per_slot["right"] == 0
    assert rates.per_slot["left"] > 0
    assert rates.slowest() == 0
    assert rates.slowest(frozenset({"left"})) > 0


def test_the_measured_pictures_are_left_as_they_were() -> None:
    frame = colour_frame(3)
    before = frame.image.copy()
    measure({"left": frame}, {"left": VIDEO_CODECS["libx264"]}, 30)
    assert np.array_equal(frame.image, before)
