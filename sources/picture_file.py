"""picture_file: one JPEG or PNG from disk, checked before anything is allocated for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from operators.errors import DeviceError

__all__ = ["MAX_FILE", "MAX_PIXELS", "read_picture"]

MAX_FILE = 64 * 2**20
"""Bytes of the largest picture file that is read: four times a 16-bit PNG of 4K."""
MAX_PIXELS = 64_000_000

_PNG = b"\x89PNG\r\n\x1a\n"
_TAIL = 64
"""Bytes at the end in which the end marker must stand; some writers pad."""


def read_picture(path: Path, *, colour: bool, key: str) -> NDArray[Any]:
    """Read a picture: bgr24 [height, width, 3] uint8 where ``colour``, else as it is stored.

    Raises:
        DeviceError: the file cannot be read, is empty, truncated, damaged, too large or no picture; it is named by its
            folder and name.
    """
    name = f"{path.parent.name}/{path.name}"
    try:
        if path.stat().st_size > MAX_FILE:
            raise DeviceError(key, f"{name} is larger than {MAX_FILE >> 20} MiB")
        data = path.read_bytes()
    except OSError as error:
        raise DeviceError(key, f"{name} cannot be read: {error.strerror}") from None
    if not data:
        raise DeviceError(key, f"{name} is empty")
    size = _declared_size(data)
    if size is None:
        raise DeviceError(key, f"{name} is damaged, or neither JPEG nor PNG")
    if size[0] * size[1] > MAX_PIXELS:
        raise DeviceError(key, f"{name} has more than {MAX_PIXELS // 10**6} million pixels")
    # Decoders fill up a truncated picture in silence.
    if (b"IEND" if data.startswith(_PNG) else b"\xff\xd9") not in data[-_TAIL:]:
        raise DeviceError(key, f"{name} is truncated")
    # Pixels stay as delivered: no turning by EXIF.
    flags = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION if colour else cv2.IMREAD_UNCHANGED
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error:
        image = None
    if image is None:
        raise DeviceError(key, f"{name} is damaged")
    return np.ascontiguousarray(image)


def _declared_size(data: bytes) -> tuple[int, int] | None:
    """Height and width as the file's header has them; None where there is none."""
    if data.startswith(_PNG):
        if data[12:16] != b"IHDR" or len(data) < 24:
            return None
        return int.from_bytes(data[20:24]), int.from_bytes(data[16:20])
    if not data.startswith(b"\xff\xd8"):
        return None
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        # A frame header: C0 to CF without DHT, JPG and DAC.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 5 : at + 7]), int.from_bytes(data[at + 7 : at + 9])
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return None
