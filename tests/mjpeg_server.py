"""An MJPEG camera over HTTP, as IP cameras are: a stream of JPEG parts, and a switch for each way to misbehave."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2
import numpy as np

from sources.virtual.counter import draw_stamp

__all__ = ["jpeg", "mjpeg_camera", "numbered"]

Part = bytes
Stream = Callable[[int, threading.Event], Iterable[Part]]
"""``stream(connection, stop)``: the parts of the n-th connection (from 0); it returns to close the connection."""


def jpeg(number: int, size: tuple[int, int] = (240, 320)) -> bytes:
    """A picture with its number in its pixels, 4:2:0 in the full range, as cameras send it."""
    image = np.full((*size, 3), 90, dtype=np.uint8)
    draw_stamp(image, number, 0)
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 85])
    assert done
    return bytes(data)


def numbered(
    fps: float = 30.0, *, count: int | None = None, first: int = 0, size: tuple[int, int] = (240, 320)
) -> Callable[[threading.Event], Iterator[Part]]:
    """Pictures first, first + 1, … at a rate, for ever or ``count`` of them."""

    def parts(stop: threading.Event) -> Iterator[Part]:
        number = first
        while count is None or number < first + count:
            yield jpeg(number, size)
            number += 1
            if stop.wait(1 / fps):
                return

    return parts


@contextmanager
def mjpeg_camera(stream: Stream) -> Iterator[str]:
    """Serve a stream on this machine; gives its URL, with a user and a password in it."""
    stop = threading.Event()
    connections = iter(range(1_000_000))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=part")
            self.end_headers()
            try:
                for part in stream(next(connections), stop):
                    head = f"--part\r\nContent-Type: image/jpeg\r\nContent-Length: {len(part)}\r\n\r\n"
                    self.wfile.write(head.encode() + part + b"\r\n")
            except OSError:
                return

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # Handlers are told to end by `stop`; nobody waits for one whose client hangs.
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://user:secret@127.0.0.1:{server.server_address[1]}/stream"
    finally:
        stop.set()
        server.shutdown()
        server.server_close()
        thread.join()
