"""How fast encoders are here, on the rig's own pictures, all slots at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import av
import numpy as np

from operators.events import Frame
from sinks.pictures import av_frame
from sinks.video_settings import VIDEO_CODECS, VideoSettings, encoder_built

__all__ = ["Rates", "encoder_works", "measure"]

PROBE_FRAMES = 12
PROBE_S = 0.3
"""A probe of one slot ends after so many frames or so long, whichever is first, but not before its second frame."""
PROBE_WAIT_S = 2.0
"""How long the slots wait for each other before they start."""
_SHIFT_PX = 7


@dataclass(frozen=True, slots=True)
class Rates:
    """Frames a second of each slot while all ran, 0 for one that failed; all frames encoded, and the time it took."""

    per_slot: dict[str, float]
    frames: int
    elapsed_s: float

    def slowest(self, slots: frozenset[str] | None = None) -> float:
        """Of all slots, or of some; 0 where there are none."""
        return min((rate for slot, rate in self.per_slot.items() if slots is None or slot in slots), default=0.0)


def encoder_works(encoder: str) -> bool:
    """Whether a known encoder is in this build, and for NVENC whether it encodes here."""
    if not encoder_built(encoder):
        return False
    if not encoder.endswith("nvenc"):
        return True
    tiny = Frame(np.zeros((256, 256, 3), np.uint8), "rgb24", 0)
    return measure({"probe": tiny}, {"probe": VIDEO_CODECS[encoder]}, 30).slowest() > 0


def measure(frames: Mapping[str, Frame], settings: Mapping[str, VideoSettings], fps: float) -> Rates:
    """Encode shifted copies of each slot's frame, one thread a slot, as a take does; nothing is written.

    Args:
        frames: at least one frame of every slot in ``settings``. fps: rows a second, for rate control.
    """
    done = dict.fromkeys(settings, 0)
    took_s = dict.fromkeys(settings, 0.0)
    all_ready = threading.Barrier(max(1, len(settings)))

    def run(slot: str) -> None:
        try:
            frame = frames[slot]
            # Shifted pictures: an unchanged one costs an encoder next to nothing, and would flatter it.
            shifted = [np.roll(frame.image, _SHIFT_PX * i, axis=1) for i in range(4)]
            all_ready.wait(PROBE_WAIT_S)
            start = time.perf_counter()
            count = _encode(frame, shifted, settings[slot], fps)
            done[slot], took_s[slot] = count, time.perf_counter() - start
        except Exception:  # noqa: BLE001 - whatever a codec or driver raises here, it is one that is not taken
            return

    threads = [threading.Thread(target=run, args=(slot,), name=f"probe-{slot}") for slot in settings]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rates = {slot: done[slot] / took_s[slot] if took_s[slot] > 0 else 0.0 for slot in settings}
    return Rates(rates, sum(done.values()), time.perf_counter() - start)


def _encode(frame: Frame, shifted: list[np.ndarray], settings: VideoSettings, fps: float) -> int:
    context = av.CodecContext.create(settings.encoder, "w")
    if not isinstance(context, av.VideoCodecContext):
        raise TypeError(f"{settings.encoder} is no video encoder")
    sample = av_frame(frame.image, frame.pix_fmt, settings.pix_fmt)
    rate = Fraction(fps).limit_denominator(100_000)
    context.width, context.height, context.pix_fmt = sample.width, sample.height, settings.pix_fmt
    context.time_base, context.framerate = 1 / rate, rate
    context.options = dict(settings.options)
    context.thread_count = 1
    start = time.perf_counter()
    done = 0
    while done < PROBE_FRAMES and (done < 2 or time.perf_counter() - start < PROBE_S):
        picture = av_frame(shifted[done % len(shifted)], frame.pix_fmt, settings.pix_fmt)
        picture.pts = done
        context.encode(picture)
        done += 1
    context.encode(None)
    return done
