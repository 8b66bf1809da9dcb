"""Arming: everything that can refuse a take is asked before anything is written."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from episodes.declaration import Declaration
from episodes.errors import ContractError
from episodes.numbering import EpisodeNumber
from episodes.paths import TaskPaths
from episodes.streams import VideoStream
from flows.device_link import DeviceLink
from flows.disk import DiskBudget
from flows.rig import Rig
from flows.take_port import PictureShape
from operators.errors import DeviceError
from operators.events import Frame
from sinks.encoders import EncoderPlan, choose_encoders
from sinks.reservation import check_fps, current_info, reserve

__all__ = ["ArmedTake", "Preflight"]

POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class ArmedTake:
    """A take that may begin: its number is ours.

    Attributes:
        paths: of the task. number: of the take. staging: the folder that it is recorded in.
        shapes: of every video slot's pictures. plan: the encoders. disk_free: bytes above the reserve.
    """

    paths: TaskPaths
    number: EpisodeNumber
    staging: Path
    shapes: Mapping[str, PictureShape]
    plan: EncoderPlan
    disk_free: int

    @property
    def sizes(self) -> dict[str, tuple[int, int]]:
        """Height and width of every slot."""
        return {slot: shape.size for slot, shape in self.shapes.items()}

    @property
    def encoders(self) -> dict[str, str]:
        """Encoder name of every slot."""
        return {slot: self.plan.of(slot).encoder for slot in self.shapes}


class Preflight:
    """Arms takes of one rig on one task. The encoders are measured once, and anew when a slot's pictures change.

    Args:
        links: the rig's devices, open. frame_timeout_s: how long a slot may take to show its first picture.
    """

    def __init__(
        self,
        rig: Rig,
        declaration: Declaration,
        task_dir: Path,
        links: Sequence[DeviceLink],
        disk: DiskBudget,
        *,
        frame_timeout_s: float,
    ) -> None:
        self._rig = rig
        self._declaration = declaration
        self._task_dir = task_dir
        self._links = tuple(links)
        self._disk = disk
        self._frame_timeout_s = frame_timeout_s
        self._plan: tuple[object, EncoderPlan] | None = None

    def arm(self) -> ArmedTake:
        """Check task, disk, devices and encoders, then take the number.

        Raises:
            SessionError: no disk left. ContractError: the rig does not fit the task. DeviceError: a slot shows no
            picture. TaskBusyError: another recorder works on the task.
        """
        paths, info = self.check_task()
        free = self._disk.require()
        frames = self._first_frames()
        shapes = {slot: PictureShape.of(frame) for slot, frame in frames.items()}
        plan = self._choose(frames, shapes, info)
        staging = reserve(paths, self._declaration)
        number = next(number for number, folder in paths.stagings() if folder == staging)
        return ArmedTake(paths, number, staging, shapes, plan, free)

    def check_task(self) -> tuple[TaskPaths, Mapping[str, Any] | None]:
        """The task's paths, and its info.json; None for a new task.

        Raises:
            ContractError: the task's name or rate is not the rig's. CorruptFileError, UnknownFormatError: it is no
            task of ours.
        """
        info = current_info(TaskPaths(self._task_dir))
        paths = TaskPaths.of(self._task_dir, info)
        name = self._declaration.task_name
        if info is not None and info.get("task_name", name) != name:
            raise ContractError(
                f"{self._task_dir}: holds the task {info.get('task_name')!r}, whose name becomes the same directory as "
                f"{name!r}; name the task otherwise"
            )
        check_fps(paths, info, self._declaration)
        return paths, info

    def _first_frames(self) -> dict[str, Frame]:
        """The newest picture of every slot."""
        deadline = time.monotonic() + self._frame_timeout_s
        while True:
            frames: dict[str, Frame] = {}
            missing: tuple[DeviceLink, str] | None = None
            for link in self._links:
                for port in link.flow.ports:
                    if not isinstance(port.stream, VideoStream):
                        continue
                    frame = link.meters[port.name].frame
                    if frame is None:
                        missing = missing or (link, port.stream.slot)
                    else:
                        frames[port.stream.slot] = frame
            if missing is None:
                return frames
            if time.monotonic() >= deadline:
                raise _no_picture(*missing, self._frame_timeout_s)
            time.sleep(POLL_S)

    def _choose(
        self, frames: Mapping[str, Frame], shapes: Mapping[str, PictureShape], info: Mapping[str, Any] | None
    ) -> EncoderPlan:
        extensions = {} if info is None else info.get("video_extensions")
        fixed = {
            slot: extension
            for slot, extension in (extensions.items() if isinstance(extensions, dict) else ())
            if isinstance(extension, str)
        }
        measured_on = (dict(shapes), fixed)
        if self._plan is not None and self._plan[0] == measured_on:
            return self._plan[1]
        plan = choose_encoders(
            frames,
            depth_slots=frozenset(video.slot for video in self._declaration.videos if video.kind == "depth"),
            fps=float(self._rig.fps),
            video_codec=self._rig.video_codec,
            depth_codec=self._rig.depth_codec,
            depth_quality=self._rig.depth_quality,
            fixed_extensions=fixed,
        )
        # The first take fixes the depth slots' extensions: the second one must not measure again for that.
        fixed |= {video.slot: plan.of(video.slot).extension for video in self._declaration.videos}
        self._plan = ((dict(shapes), fixed), plan)
        return plan


def _no_picture(link: DeviceLink, slot: str, timeout_s: float) -> DeviceError:
    state = "is still opening" if link.state == "opening" else f"is {link.state}"
    reason = f" ({link.reason})" if link.reason else ""
    return DeviceError(
        link.flow.key,
        f"slot {slot} showed no picture within {timeout_s:g} s; the device {state}{reason}; check its cable",
    )
