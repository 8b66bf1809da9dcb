"""What makes a rig impossible: every rule names both sides and says what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from episodes.columns import columns_of
from episodes.errors import ContractError
from episodes.naming import check_slot
from episodes.streams import ImuStream, Stream, VideoStream
from flows.device import DeviceFlow
from operators.errors import RigError
from sinks.encoders import VIDEO_CODECS

if TYPE_CHECKING:
    from flows.rig import Rig

__all__ = ["check_rig"]

FPS_MIN, FPS_MAX = 1, 240
MAX_GLOVES = 2
# Two devices of these kinds open the same head: /dev/video0 and /dev/video2.
KIND_CONFLICTS = {
    frozenset({"d435", "s80m"}): "both need /dev/video0 and /dev/video2",
    frozenset({"s80m"}): "stereo_left and stereo_right are the slots of the one S80M that a rig can have",
}
_CREDENTIALS = re.compile(r"//[^/\s@]+@")


def check_rig(rig: Rig) -> None:
    """Refuse a rig that cannot work.

    Raises:
        RigError: it names the devices, slots, columns or numbers that are wrong.
    """
    _check_numbers(rig)
    _check_devices(rig.flows)
    _check_slots(rig.flows)
    _check_columns(rig.flows)
    _check_followers(rig)
    _check_master(rig)


def _check_numbers(rig: Rig) -> None:
    if not rig.name.strip() or not rig.name.isprintable():
        raise RigError(f"rig name {rig.name!r}: give the rig a name that can be printed")
    fps: object = rig.fps
    if isinstance(fps, bool) or not isinstance(fps, int | float) or not FPS_MIN <= fps <= FPS_MAX:
        raise RigError(f"rig {rig.name}: fps {fps!r} is not a number from {FPS_MIN} to {FPS_MAX}")
    _check_choice(rig, "video_codec", rig.video_codec, ("auto", *VIDEO_CODECS))
    _check_choice(rig, "depth_codec", rig.depth_codec, ("auto", "hevc", "ffv1"))
    _check_choice(rig, "depth_quality", rig.depth_quality, ("lossless", "qp6"))
    if not any(flow.ports for flow in rig.flows):
        raise RigError(f"rig {rig.name}: no device of it records anything; add a device flow")


def _check_choice(rig: Rig, field: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise RigError(f"rig {rig.name}: {field} {value!r} is none of {', '.join(choices)}")


def _check_devices(flows: Sequence[DeviceFlow]) -> None:
    seen: dict[str, DeviceFlow] = {}
    for flow in flows:
        if not flow.key or _CREDENTIALS.search(flow.key):
            raise RigError(f"device {flow.name!r}: its key must not be empty, nor hold a user name or password")
        if flow.key in seen:
            raise RigError(f"{flow.key}: declared twice, as {seen[flow.key].name!r} and {flow.name!r}; drop one")
        seen[flow.key] = flow
    for one, other in combinations(flows, 2):
        reason = KIND_CONFLICTS.get(frozenset({one.kind, other.kind}))
        if reason is not None:
            raise RigError(f"{one.key} and {other.key} cannot be in one rig: {reason}")
        for claim in sorted(one.claims.keys() & other.claims.keys()):
            raise RigError(f"{one.key} and {other.key} both claim {claim}: {other.claims[claim]}")
        if one.rig is not None and one.rig == other.rig:
            raise RigError(f"{one.key} and {other.key} are both gripper rig {one.rig}; give one the other number")
    gloves = [flow for flow in flows if flow.sensor_column is not None]
    if len(gloves) > MAX_GLOVES:
        names = ", ".join(flow.key for flow in gloves)
        raise RigError(f"{names}: a rig has columns for {MAX_GLOVES} gloves; drop one")


def _check_slots(flows: Sequence[DeviceFlow]) -> None:
    owner: dict[str, DeviceFlow] = {}
    for flow in flows:
        recorded = [port.stream.slot for port in flow.ports if isinstance(port.stream, VideoStream)]
        for slot in dict.fromkeys((*flow.slots, *recorded)):
            try:
                check_slot(slot)
            except ContractError as error:
                raise RigError(f"{flow.key}: {error}") from error
            if slot in owner:
                raise RigError(f"{owner[slot].key} and {flow.key} both use slot {slot!r}; name one of them otherwise")
            owner[slot] = flow
        twice = sorted({slot for slot in recorded if recorded.count(slot) > 1})
        if twice:
            raise RigError(f"{flow.key}: two of its ports record slot {twice[0]!r}")


def _check_columns(flows: Sequence[DeviceFlow]) -> None:
    owner: dict[str, DeviceFlow] = {}
    for flow in flows:
        for column in _names(flow):
            if column in owner:
                raise RigError(
                    f"{owner[column].key} and {flow.key} would both write column {column!r}; rename one of them"
                )
            owner[column] = flow
    streams = tuple(port.stream for flow in flows for port in flow.ports)
    try:
        columns_of(streams, master=None)
    except ContractError as error:
        raise RigError(str(error)) from error


def _names(flow: DeviceFlow) -> Iterator[str]:
    """The columns of one device, without those that every episode has."""
    common = {column.name for column in columns_of((), master=None)}
    try:
        columns = columns_of(tuple(port.stream for port in flow.ports), master=None)
    except ContractError as error:
        raise RigError(f"{flow.key}: {error}") from error
    for column in columns:
        if column.stream is not None or column.name not in common:
            yield column.name


def _check_followers(rig: Rig) -> None:
    before: dict[str, VideoStream] = {}
    for flow, port in rig.ports:
        stream = port.stream
        master = stream.master if isinstance(stream, VideoStream | ImuStream) else None
        if master is not None:
            what = stream.slot if isinstance(stream, VideoStream) else "the IMU"
            found = before.get(master)
            if found is None:
                known = ", ".join(_colour_slots(rig.streams)) or "none"
                raise RigError(
                    f"{flow.key}: {what} follows slot {master!r}, which is not recorded before it; "
                    f"colour slots are: {known}"
                )
            if found.kind != "rgb":
                raise RigError(f"{flow.key}: {what} follows slot {master!r}, which is depth, not colour")
        if isinstance(stream, VideoStream):
            before[stream.slot] = stream


def _check_master(rig: Rig) -> None:
    colour = _colour_slots(rig.streams)
    if rig.master is not None and rig.master not in colour:
        raise RigError(
            f"rig {rig.name}: master {rig.master!r} is no recorded colour slot ({', '.join(colour) or 'none'})"
        )
    imu = [flow for flow, port in rig.ports if isinstance(port.stream, ImuStream)]
    if imu and rig.master_slot != "stereo_left":
        raise RigError(
            f"rig {rig.name}: master {rig.master!r} does not go with the IMU of {imu[0].key}, whose samples pair with "
            "stereo_left; leave master out"
        )


def _colour_slots(streams: Iterable[Stream]) -> list[str]:
    return [stream.slot for stream in streams if isinstance(stream, VideoStream) and stream.kind == "rgb"]
