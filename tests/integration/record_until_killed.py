"""Records numbered pictures into one video until it is killed; run as a child by the tests.

argv: the file, the encoder's name. Prints the number of each picture after it has been handed over.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sinks.video_settings import DEPTH_CODECS, VIDEO_CODECS
from sinks.video_writer import VideoWriter
from tests.numbered_pictures import colour_frame, depth_frame


def main() -> None:
    path, name = Path(sys.argv[1]), sys.argv[2]
    settings = VIDEO_CODECS.get(name) or DEPTH_CODECS[name]
    make = depth_frame if name in DEPTH_CODECS else colour_frame
    # As a take has it: half a second of rows may wait.
    writer = VideoWriter(path, "slot", settings, 30, 240, 320, queue_bound=15, blocking=True)
    for i in range(4000):
        if not writer.write(make(i, 240, 320)):
            raise SystemExit(str(writer.error))
        sys.stdout.write(f"{i}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
