"""Makes the pictures of docs/images from a real take of the demo rig: ``python docs/make_images.py``."""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console, RenderableType

from episodes.episode import Episode
from episodes.reader import open_task
from flows.session import Session
from launcher.live_table import live_table
from launcher.logs import log_to_stderr
from launcher.take_table import take_table
from rigs.registry import load_rig

IMAGES = Path(__file__).parent / "images"
SECONDS = 12.0
SHOWN_AFTER_S = 7.0
WIDTH = 112
TILE_WIDTH = 216
MOMENTS = 4
GAP: NDArray[np.uint8] = np.full((TILE_WIDTH * 2, 4, 3), 32, np.uint8)
FAR_MM = 2500
FONT = "Fira Code, Menlo, Consolas, DejaVu Sans Mono"


def main() -> None:
    """Record, and write live_table.svg, take_summary.svg and streams.png."""
    IMAGES.mkdir(exist_ok=True)
    log_to_stderr(verbose=False)
    with tempfile.TemporaryDirectory() as folder:
        rig = load_rig("demo")
        with Session(rig, Path(folder), "pour water") as session:
            session.start(SECONDS)
            session.wait(SHOWN_AFTER_S)
            view = session.live()
            session.wait()
            summary = session.stop()
            episode = open_task(session.task_dir).episode(summary.k)
        write_svg("live_table", live_table(view, rig_fps=float(rig.fps), seconds=SECONDS), "rigflow record demo")
        write_svg("take_summary", take_table(summary), "rigflow record demo")
        cv2.imwrite(str(IMAGES / "streams.png"), contact_sheet(episode), [cv2.IMWRITE_PNG_COMPRESSION, 9])


def write_svg(name: str, shown: RenderableType, title: str) -> None:
    """Draw what a terminal shows, without fonts from the network."""
    console = Console(file=io.StringIO(), record=True, width=WIDTH, height=40, force_terminal=True)
    console.print(shown)
    form = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    form = form.replace("Fira Code", FONT)
    (IMAGES / f"{name}.svg").write_text(console.export_svg(title=title, code_format=form), encoding="utf-8")


def contact_sheet(episode: Episode) -> NDArray[np.uint8]:
    """A line of pictures a slot, from a few rows of the take: [height, width, 3] uint8, bgr."""
    moments = np.linspace(episode.length * 0.1, episode.length * 0.9, MOMENTS).astype(int).tolist()
    lines: list[NDArray[np.uint8]] = []
    for slot in episode.slots:
        tiles = [tile(picture(episode, slot, i)) for i in moments]
        lines += [caption(slot, moments), np.hstack([part for one in tiles for part in (one, GAP[: len(one)])])]
    return np.vstack(lines)


def tile(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture, as wide as a tile."""
    height = round(image.shape[0] * TILE_WIDTH / image.shape[1])
    return np.asarray(cv2.resize(image, (TILE_WIDTH, height), interpolation=cv2.INTER_AREA), np.uint8)


def caption(slot: str, rows: list[int]) -> NDArray[np.uint8]:
    """A bar with the slot's name over the first tile and the row over each."""
    bar = np.full((22, (TILE_WIDTH + GAP.shape[1]) * len(rows), 3), 32, np.uint8)
    for n, row in enumerate(rows):
        left = n * (TILE_WIDTH + GAP.shape[1]) + 4
        words = f"{slot}   row {row}" if n == 0 else f"row {row}"
        cv2.putText(bar, words, (left, 15), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (230, 230, 230), 1, cv2.LINE_AA)
    return bar


def picture(episode: Episode, slot: str, i: int) -> NDArray[np.uint8]:
    """Frame i as [height, width, 3] uint8, bgr; depth from near (red) to far (blue), black where there is none."""
    if episode.kind(slot) == "rgb":
        with episode.video(slot) as video:
            return np.ascontiguousarray(video[i][:, :, ::-1])
    with episode.depth(slot) as depth:
        mm = depth[i]
    near = (255 - np.clip(mm.astype(np.float32) / FAR_MM, 0, 1) * 255).astype(np.uint8)
    shown = np.asarray(cv2.applyColorMap(near, cv2.COLORMAP_TURBO), np.uint8)
    shown[mm == 0] = 0
    return shown


if __name__ == "__main__":
    main()
