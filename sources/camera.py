"""camera: pictures from anything that PyAV opens: a V4L2 device, an MJPEG or RTSP URL, a video file."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import av
import av.error
import reactivex as rx
import structlog
from av.container import InputContainer
from av.packet import Packet
from av.video.stream import VideoStream

from operators.errors import DeviceError
from operators.events import STATUS_PORT, Event, Frame, Status
from sources.camera_pixels import pixels_of
from sources.device_thread import Emit, device_thread
from sources.pace import wait_until

__all__ = ["IMAGE_PORT", "camera", "camera_id", "is_live"]

IMAGE_PORT = "image"

OPEN_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 5.0
MAX_PIXELS = 64_000_000
MAX_BAD_PACKETS = 100
"""Undecodable packets in a row after which a camera is given up and opened again."""
IN_FLIGHT = 64
"""Packets whose receipt is remembered until their picture comes out of the decoder."""
KERNEL_AGE_NS = 5_000_000_000
"""A kernel stamp that is not within this of the receipt is on another clock, and is not used."""

_NETWORK = {
    "http": "http,tcp",
    "https": "https,tls,tcp",
    "rtsp": "rtsp,rtp,udp,tcp",
    "rtsps": "rtsps,rtsp,rtp,udp,tcp,tls",
}
"""URL schemes that are opened, and all that FFmpeg may open for them: a stream must not lead to a file or elsewhere."""
_SECRET = re.compile(r"(?i)(user(?:name)?|pass(?:word|wd)?|pwd|token|auth|key)=[^&/;]*")

_log = structlog.get_logger(__name__)


def is_live(source: str) -> bool:
    """Whether the source is a device or a stream; a video file is not."""
    return "://" in source or source.startswith("/dev/")


def camera_id(source: str) -> str:
    """What names a source in keys and messages: a URL without user, password, query and fragment; a file's name."""
    if "://" not in source:
        return source if source.startswith("/dev/") else Path(source).name
    parts = urlsplit(source)
    host = parts.netloc.rpartition("@")[2]
    path = _SECRET.sub(r"\1=***", parts.path)
    return f"{parts.scheme.lower()}://{host}{path}"


def camera(
    source: str, *, key: str, fps: float | None = None, width: int | None = None, height: int | None = None
) -> rx.Observable[Event]:
    """Open a camera and emit its pictures on the port ``image``.

    Pictures are ``yuv420p`` planes as they come where the camera sends such, else see `sources.camera_pixels`. A
    picture is emitted in whatever size it comes; who records it decides.

    Stamps: ``host_ns`` is the receipt of the packet that the picture was decoded from. ``capture_ns`` is the kernel's
    stamp of a V4L2 device (on the monotonic clock), else None. ``seq`` counts pictures since the device was opened. A
    video file is played at its own rate, as a live camera, from its beginning at each subscription, and completes;
    ``device_ns`` is then the file's presentation time. Packets that cannot be decoded are left out and logged; a file
    that is damaged beyond is played up to there, says so on the status port, and completes.

    A stream that ends, a device that is unplugged and one that sends nothing for 5 s fail; whoever subscribes again
    opens it anew.

    Args:
        source: ``/dev/video0``, an ``http``, ``https``, ``rtsp`` or ``rtsps`` URL, or the path of a video file.
        key: of the device, for messages; neither they nor the log ever hold a user name or password.
        fps: asked of a V4L2 device; the rate at which a file is played, by default its own.
        width, height: asked of a V4L2 device, pixels.

    Raises:
        DeviceError: through ``on_error``; it cannot be opened, ended, stalled, or sends no video.
    """

    def read(emit: Emit, stop: threading.Event) -> None:
        with _open(source, key, fps, width, height) as container:
            if not container.streams.video:
                raise DeviceError(key, "there is no video in it")
            if is_live(source):
                _read_live(container, key, emit, stop, kernel=source.startswith("/dev/"))
            else:
                _play(container, key, fps, emit, stop)

    return device_thread(key, read)


def _open(source: str, key: str, fps: float | None, width: int | None, height: int | None) -> InputContainer:
    options: dict[str, str] = {}
    name, form = source, None
    if source.startswith("/dev/"):
        form = "v4l2"
        options["timestamps"] = "default"
        if fps is not None:
            options["framerate"] = f"{fps:g}"
        if width is not None and height is not None:
            options["video_size"] = f"{width}x{height}"
    elif "://" in source:
        scheme = urlsplit(source).scheme.lower()
        if scheme not in _NETWORK:
            raise DeviceError(key, f"{scheme}:// is not opened; give an http, https, rtsp or rtsps URL")
        options |= {"protocol_whitelist": _NETWORK[scheme], "fflags": "nobuffer", "flags": "low_delay"}
        if scheme.startswith("rtsp"):
            options["rtsp_transport"] = "tcp"
    else:
        path = Path(source)
        if not path.is_file():
            raise DeviceError(key, f"there is no video file {path.name}; check the path")
        # With a resolved path no part of the name can be taken for a protocol.
        name, options["protocol_whitelist"] = str(path.resolve()), "file"
    try:
        container = av.open(name, format=form, options=options, timeout=(OPEN_TIMEOUT_S, READ_TIMEOUT_S))
    except (av.error.FFmpegError, OSError, ValueError) as error:
        # Not chained: the text of the original has the URL in it, password and all.
        raise DeviceError(key, f"it cannot be opened: {_reason(error)}") from None
    return container


def _packets(container: InputContainer, key: str) -> Iterator[tuple[Packet[VideoStream], int]]:
    """The packets of the first video stream, each with its receipt on the host's monotonic clock."""
    stream = container.streams.video[0]
    # One thread, so that the decoder holds no picture back for another.
    stream.thread_type = "NONE"
    stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
    try:
        for packet in container.demux(stream):
            yield packet, time.monotonic_ns()
    except (av.error.FFmpegError, OSError) as error:
        raise DeviceError(key, f"it failed: {_reason(error)}") from None


def _read_live(container: InputContainer, key: str, emit: Emit, stop: threading.Event, *, kernel: bool) -> None:
    received: OrderedDict[int | None, int] = OrderedDict()
    seq = bad = 0
    for packet, host_ns in _packets(container, key):
        if stop.is_set():
            return
        received[packet.pts] = host_ns
        if len(received) > IN_FLIGHT:
            received.popitem(last=False)
        try:
            pictures = packet.decode()
        except av.error.FFmpegError as error:
            bad += 1
            if bad == 1:
                _log.warning("packets that cannot be decoded are left out", device=key, reason=_reason(error))
            if bad >= MAX_BAD_PACKETS:
                raise DeviceError(key, f"{bad} packets in a row could not be decoded: {_reason(error)}") from None
            continue
        for picture in pictures:
            bad = 0
            assert isinstance(picture, av.VideoFrame)
            stamp = received.pop(picture.pts, host_ns)
            capture_ns = _kernel_ns(picture, stamp) if kernel else None
            image, pix_fmt = pixels_of(picture)
            source = 3 if capture_ns is None else 2
            emit(Event(IMAGE_PORT, Frame(image, pix_fmt, stamp, capture_ns=capture_ns, seq=seq, ts_src=source)))
            seq += 1
    if not stop.is_set():
        raise DeviceError(key, "the stream ended; check the camera and the network")


def _play(container: InputContainer, key: str, fps: float | None, emit: Emit, stop: threading.Event) -> None:
    seq = bad = 0
    first_ns: int | None = None
    start_ns = time.monotonic_ns()
    rate = fps or float(container.streams.video[0].average_rate or 0) or 25.0
    packets = _packets(container, key)
    while True:
        try:
            packet, _received_ns = next(packets)
            pictures = packet.decode()
        except StopIteration:
            break
        except DeviceError as error:
            if seq == 0:
                raise
            # Opened again it would be played again: a damaged file ends where it is damaged, and is told.
            _log.error("the file is damaged", device=key, pictures=seq, reason=error.problem)
            emit(Event(STATUS_PORT, Status("disconnected", time.monotonic_ns(), f"{key}: {error.problem}")))
            return
        except av.error.FFmpegError as error:
            bad += 1
            if bad == 1:
                _log.warning("packets that cannot be decoded are left out", device=key, reason=_reason(error))
            continue
        for picture in pictures:
            assert isinstance(picture, av.VideoFrame)
            device_ns = _presentation_ns(picture)
            image, pix_fmt = pixels_of(picture)
            if first_ns is None:
                first_ns, start_ns = device_ns, time.monotonic_ns()
            offset_ns = round(seq * 1e9 / rate)
            if fps is None and device_ns is not None and first_ns is not None:
                offset_ns = device_ns - first_ns
            if not wait_until(start_ns + offset_ns, stop):
                return
            emit(Event(IMAGE_PORT, Frame(image, pix_fmt, time.monotonic_ns(), device_ns=device_ns, seq=seq, ts_src=2)))
            seq += 1
    if seq == 0:
        raise DeviceError(key, "the file has no picture that can be decoded")
    # The last picture stays for its period, like any other.
    wait_until(time.monotonic_ns() + round(1e9 / rate), stop)


def _presentation_ns(picture: av.VideoFrame) -> int | None:
    if picture.pts is None or picture.time_base is None:
        return None
    return picture.pts * picture.time_base.numerator * 1_000_000_000 // picture.time_base.denominator


def _kernel_ns(picture: av.VideoFrame, host_ns: int) -> int | None:
    """The kernel's stamp; drivers that stamp on the wall clock are told by its distance."""
    stamp = _presentation_ns(picture)
    return stamp if stamp is not None and 0 <= host_ns - stamp <= KERNEL_AGE_NS else None


def _reason(error: BaseException) -> str:
    """An error in words, without the name of what was opened."""
    if isinstance(error, av.error.ExitError | TimeoutError):
        return f"nothing came within {READ_TIMEOUT_S:g} s"
    return getattr(error, "strerror", None) or type(error).__name__
