"""What sources emit: small frozen records, stamped first thing on receipt.

Every ``host_ns`` is the host's monotonic clock (``time.monotonic_ns()``), taken before anything else is done with the
bytes. A missing stamp is ``None`` here; ``0`` means "no stamp" only on disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["STATUS_PORT", "Event", "Frame", "ImuSample", "Item", "Point", "Sample", "Status"]

V = TypeVar("V")

STATUS_PORT = "status"
"""The port on which every source reports `Status`."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture of one slot.

    Attributes:
        image: C-contiguous pixels, not touched by anybody after emission. ``rgb24`` and ``bgr24``: [height, width, 3]
            uint8; ``gray``: [height, width] uint8; ``yuv420p``: [height * 3 // 2, width] uint8; ``gray16le``:
            [height, width] uint16, depth in mm, 0 = invalid.
        pix_fmt: the layout of ``image``, by FFmpeg's name.
        host_ns: receipt, host monotonic clock, ns.
        capture_ns: capture time on the host monotonic clock, where a kernel or driver gives it; else None.
        device_ns: the device's own stamp, unwrapped, verbatim, ns; None where the device gives none.
        seq: the device's frame number, unwrapped; None where the device gives none.
        frameset: number shared by the colour and the depth frame that belong together; None where the device has no
            such notion.
        ts_src: origin of the stamp: 0 none, 1 sensor timestamp, 2 frame timestamp, 3 host.
    """

    image: NDArray[Any]
    pix_fmt: str
    host_ns: int
    capture_ns: int | None = None
    device_ns: int | None = None
    seq: int | None = None
    frameset: int | None = None
    ts_src: int = 0

    @property
    def best_ns(self) -> int:
        """Capture time on the host monotonic clock where known, else receipt; ns."""
        return self.host_ns if self.capture_ns is None else self.capture_ns


@dataclass(frozen=True, slots=True, eq=False)
class Sample(Generic[V]):
    """One value of a sensor: a vector, a matrix, a state. ``value`` is not touched by anybody after emission."""

    value: V
    host_ns: int
    device_ns: int | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One pose of a tracker.

    Attributes:
        t: the tracker's own time, seconds, verbatim.
        pose: x, y, z in metres and the unit quaternion qx, qy, qz, qw, in the tracker's declared frame.
        host_ns: host monotonic time of the frame that was sampled, ns; None if the tracker gave none.
    """

    t: float
    pose: tuple[float, float, float, float, float, float, float]
    host_ns: int | None


@dataclass(frozen=True, slots=True)
class ImuSample:
    """One sample of an inertial unit.

    ``values`` are gx, gy, gz, ax, ay, az in the device's units; ``device_ns`` is on the clock of the frames'
    ``device_ns``.
    """

    device_ns: int
    values: tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Status:
    """A device came or went. ``reason`` is fit for an operator to read."""

    state: Literal["connected", "disconnected"]
    host_ns: int
    reason: str = ""


Item: TypeAlias = Frame | Sample[np.ndarray] | Point | ImuSample | Status


@dataclass(frozen=True, slots=True)
class Event:
    """What a source's observable carries: an item and the port, the device's output, that it came from."""

    port: str
    item: Item
