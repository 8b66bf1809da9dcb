"""One port of a device in one take: its hand-over, its cell, and what of it was lost."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from episodes.streams import StatusStream, Stream, VideoStream
from flows.device import CellContext, Port
from flows.device_link import DeviceLink
from operators.cells import Cell
from operators.events import STATUS_PORT, Frame, Item
from operators.hand_over import HandOver
from operators.rows import Channel

__all__ = ["PictureShape", "TakePort", "VideoPort", "attach_ports", "take_port"]

STATUS_BOUND = 8
"""Signs of life of one tick that wait: only the newest matters, and it must not keep pictures alive."""
PRIME_KEEP = 16
"""Newest frames of a live slot that are kept until the first tick, so that colour and depth find their partners."""


@dataclass(frozen=True, slots=True)
class PictureShape:
    """What every picture of a slot must be: fixed when the take is armed, since a video has one size.

    ``array``: shape of the pixel array, ``pix_fmt`` its layout.
    """

    array: tuple[int, ...]
    pix_fmt: str
    dtype: str

    @classmethod
    def of(cls, frame: Frame) -> PictureShape:
        return cls(frame.image.shape, frame.pix_fmt, frame.image.dtype.name)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width, pixels."""
        height, width = self.array[0], self.array[1]
        return (height * 2 // 3 if self.pix_fmt == "yuv420p" else height), width

    def fits(self, frame: Frame) -> bool:
        image = frame.image
        return image.shape == self.array and frame.pix_fmt == self.pix_fmt and image.dtype.name == self.dtype

    def __str__(self) -> str:
        return f"{self.size[1]}×{self.size[0]} {self.pix_fmt}"


class TakePort:
    """A port that is not video. Items go in once it was opened; before, they belong to no row and are dropped.

    Attributes:
        key: the stream's name in the row. link: its device. cell: samples it. hand_over: between the two threads.
    """

    def __init__(self, key: str, link: DeviceLink, port: Port, context: CellContext) -> None:
        self.key = key
        self.link = link
        self.stream: Stream = port.stream
        self.cell: Cell[Any, Any] = port.cell(context)
        self.is_status = isinstance(port.stream, StatusStream)
        self.hand_over: HandOver[Item] = HandOver(STATUS_BOUND if self.is_status else port.bound)
        self._opened = self.is_status

    @property
    def channel(self) -> Channel:
        """For `operators.rows.rows`."""
        return Channel(self.key, self.hand_over.items, self.cell)

    @property
    def lost(self) -> int:
        """Items that came and got no row; signs of life are not items."""
        if self.is_status:
            return 0
        dropped: int = getattr(self.cell, "dropped", 0)
        return self.hand_over.dropped + dropped

    def open(self) -> None:
        """From now on items count."""
        self._opened = True

    def put(self, item: Item) -> None:
        """Take an item on the device's thread."""
        if self._opened:
            self.hand_over.put(item)


class VideoPort(TakePort):
    """A video slot. Until the take's first tick it keeps the newest frames only; then the fitting one leads.

    Args:
        shape: what every picture must be. condition: shared by the take's slots, notified when a frame came.
        keep_all: of a device that starts with the take: its first frame is the first row's.

    Attributes:
        wrong_size: pictures of another shape, not shown; wrong_shape: the last such shape.
        left: frames that still waited when the take had to end. stale: frames before the first tick that were stamped
        before the start.
    """

    def __init__(
        self,
        key: str,
        link: DeviceLink,
        port: Port,
        context: CellContext,
        *,
        shape: PictureShape,
        condition: threading.Condition,
        keep_all: bool,
    ) -> None:
        super().__init__(key, link, port, context)
        assert isinstance(port.stream, VideoStream)
        self.video: VideoStream = port.stream
        self.shape = shape
        self.keep_all = keep_all
        self.start_ns = 0
        self.wrong_size = 0
        self.wrong_shape: PictureShape | None = None
        self.left = 0
        self.stale = 0
        self._condition = condition
        self._kept: deque[Frame] = deque(maxlen=port.bound if keep_all else PRIME_KEEP)

    @property
    def lost(self) -> int:
        """Frames that came and got no row; those of another size count apart."""
        return super().lost + self.left

    @property
    def kept(self) -> tuple[Frame, ...]:
        """Frames that came since the start, before the first tick; under the condition."""
        return tuple(self._kept)

    def put(self, item: Item) -> None:
        if not isinstance(item, Frame):
            raise TypeError(f"{self.key}: a {type(item).__name__} on a video port")
        if not self._opened and self._keep(item):
            return
        if self.shape.fits(item):
            self.hand_over.put(item)
        else:
            self.wrong_size += 1
            self.wrong_shape = PictureShape.of(item)

    def _keep(self, frame: Frame) -> bool:
        """Whether the frame came before the first tick, and hence is dealt with."""
        with self._condition:
            if self._opened:
                return False
            if frame.best_ns >= self.start_ns:
                if self.shape.fits(frame):
                    self._kept.append(frame)
                    self._condition.notify_all()
                else:
                    self.wrong_shape = PictureShape.of(frame)
            else:
                self.stale += 1
            return True

    def open_from(self, first: int) -> None:
        """Let the kept frames from number ``first`` on into the take; under the condition, on the tick thread."""
        for frame in list(self._kept)[first:]:
            self.hand_over.put(frame)
        self._kept.clear()
        self._opened = True

    def count_left(self, stop_ns: int) -> None:
        """Count what waits, captured before the take's end and without a row."""
        left_before = getattr(self.cell, "left_before", None)
        if left_before is not None:
            self.left += int(left_before(stop_ns))


def take_port(
    key: str,
    link: DeviceLink,
    port: Port,
    context: CellContext,
    shapes: Mapping[str, PictureShape],
    condition: threading.Condition,
) -> TakePort:
    """The port of a take for a declared port."""
    if isinstance(port.stream, VideoStream):
        return VideoPort(
            key, link, port, context, shape=shapes[key], condition=condition, keep_all=link.starts_with_take
        )
    return TakePort(key, link, port, context)


def attach_ports(link: DeviceLink, ports: Sequence[TakePort]) -> None:
    """Route a device into its ports: each event to the ports of its name, and to the status ports that hear all."""
    mine = [
        (declared.name, port)
        for port, declared in zip((port for port in ports if port.link is link), link.flow.ports, strict=True)
    ]
    hear_all = tuple(port.put for name, port in mine if port.is_status and name == STATUS_PORT)
    routes: dict[str, tuple[Callable[[Item], None], ...]] = {}
    for name, port in mine:
        if name != STATUS_PORT:
            routes[name] = (*routes.get(name, ()), port.put)
    link.attach(
        {name: (*puts, *hear_all) for name, puts in routes.items()},
        [port.put for _name, port in mine if port.is_status],
    )
