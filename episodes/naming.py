"""The naming rules of the contract: task directories, slots, columns."""

from __future__ import annotations

import re

from episodes.errors import ContractError

__all__ = [
    "RESERVED_COLUMNS",
    "RESERVED_SUFFIXES",
    "check_column",
    "check_rig_column",
    "check_slot",
    "column_part",
    "ego_prefix",
    "gripper_prefix",
    "slot_base",
    "task_dir_name",
]

RESERVED_SUFFIXES = (
    "slam_trajectory",
    "slam_trajectory_ns",
    "_force",
    "_force_matrix",
    "_force_ns",
    "_force_matrix_ns",
    "_state",
    "_imu_quat",
    "_imu_valid",
    "_hand_pose",
    "_frame_ns",
)
"""A column's type follows from these, so a rig's own column must not end in one of them."""

RESERVED_COLUMNS = ("observation.imu",)
MAX_NAME_BYTES = 200
_CJK = "\u4e00-\u9fff"
_COLUMN = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*", re.ASCII)
_STATUS_SLOT = re.compile(rf"status\.[0-9A-Za-z_{_CJK}]+")
_SLOT = re.compile(rf"[0-9A-Za-z_{_CJK}]+")


def check_column(name: str) -> None:
    """Refuse a name that the contract does not allow: other characters than a-z, 0-9, _ and dots, or a banned one.

    Raises:
        ContractError: it names the column and the rule.
    """
    if _STATUS_SLOT.fullmatch(name):
        return
    if not _COLUMN.fullmatch(name):
        raise ContractError(f"column {name!r}: only a-z, 0-9 and _ between dots are allowed")
    last = name.rsplit(".", 1)[-1]
    if last.endswith("slam_pose"):
        raise ContractError(f"column {name!r}: slam_pose was abolished; record a slam_trajectory instead")
    if last.startswith("gripper_1_"):
        raise ContractError(f"column {name!r}: the first gripper has no prefix; gripper_1_ is not allowed")
    if name.startswith("observation.images."):
        raise ContractError(f"column {name!r}: pictures are video slots, not columns")


def check_rig_column(name: str) -> None:
    """Refuse a name for a rig's own column: the rules of `check_column`, ``observation.`` in front, no reserved end.

    Raises:
        ContractError: it names the column and the rule.
    """
    check_column(name)
    if not name.startswith("observation."):
        raise ContractError(f"column {name!r}: a rig's own column begins with observation.")
    if name in RESERVED_COLUMNS:
        raise ContractError(f"column {name!r} has a meaning of its own; choose another name")
    for suffix in RESERVED_SUFFIXES:
        if name.endswith(suffix):
            raise ContractError(f"column {name!r}: the end {suffix} is reserved; choose another name")


def check_slot(slot: str) -> None:
    """Refuse an image key that cannot be a folder's name."""
    if not _SLOT.fullmatch(slot) or len(slot.encode()) > MAX_NAME_BYTES:
        raise ContractError(f"slot {slot!r}: only letters, digits, _ and CJK are allowed; clean it with slot_base")


def gripper_prefix(rig: int) -> str:
    """The prefix of a gripper's columns by its rig number; the first one has none in its columns.

    It follows the number, not the count: rig 2 alone is ``gripper_2_``.
    """
    if rig < 1:
        raise ContractError(f"rig number {rig}: grippers count from 1")
    return "" if rig == 1 else f"gripper_{rig}_"


def ego_prefix(place: int) -> str:
    """The prefix of the columns of a tracker without a gripper: ``ego_``, then ``ego_2_``, …; ``place`` from 1."""
    if place < 1:
        raise ContractError(f"ego tracker {place}: they count from 1")
    return "ego_" if place == 1 else f"ego_{place}_"


def slot_base(name: str) -> str:
    """A device's name as a slot's beginning: runs of other characters become _; "" when nothing is left."""
    return re.sub(rf"[^0-9A-Za-z_{_CJK}]+", "_", name).strip("_")


def column_part(slot: str) -> str:
    """A slot as part of a column name: lower case, everything but a-z, 0-9 and _ becomes _."""
    return re.sub(r"[^a-z0-9_]", "_", slot.lower())


def task_dir_name(raw: str) -> str:
    """The directory name of a task: every character but letters, digits, _ and CJK becomes _; none: ``session``.

    Raises:
        ContractError: longer than 200 bytes; begins with _, as hidden folders of a task list do; or is no text.
    """
    try:
        raw.encode()
    except UnicodeEncodeError as error:
        raise ContractError(f"task name {raw!r} is not valid text; type it anew") from error
    name = "".join(c if c.isalnum() or c == "_" else "_" for c in raw.strip()) or "session"
    if name.startswith("_"):
        raise ContractError(f"task name {raw[:40]!r}: must begin with a letter or a digit, or lists would leave it out")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise ContractError(f"task name {raw[:40]!r}…: over {MAX_NAME_BYTES} bytes; choose a shorter one")
    return name
