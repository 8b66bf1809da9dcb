"""The check sums in FFV1: FFmpeg's decoder only logs a wrong one, and paints the slice from what is left."""

from __future__ import annotations

import zlib

__all__ = ["slices_are_whole"]

_FOOTER = 8  # of a slice with error correction: size 24 bits, status 8, CRC-32 32 bits; RFC 9043, 4.9
_MIRRORED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def slices_are_whole(packet: bytes) -> bool:
    """Whether no slice of an FFV1 frame contradicts its own check sum; True, too, where it carries none.

    The footers are walked from the end of the frame. Where the walk does not meet the frame's beginning the slices have
    no check sums, or a size is damaged, which the decoder sees.
    """
    end, slices = len(packet), list[bytes]()
    while end >= _FOOTER:
        size = int.from_bytes(packet[end - _FOOTER : end - _FOOTER + 3], "big")
        start = end - _FOOTER - size
        if start < 0:
            return True
        slices.append(packet[start:end])
        end = start
    return end != 0 or all(_crc(piece) == 0 for piece in slices)


def _crc(piece: bytes) -> int:
    """CRC-32 with the most significant bit first, start 0 and no final inversion; over a slice with its CRC it is 0."""
    # zlib has the mirrored CRC, which inverts before and after: mirrored bytes and inverted ends make up for both.
    return zlib.crc32(piece.translate(_MIRRORED), 0xFFFFFFFF) ^ 0xFFFFFFFF
