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
from launcher.take_table import take_table
from rigs.registry import load_rig

IMAGES = Path(__file__).parent / "images"
SECONDS = 12.0
SHOWN_AFTER_S = 7.0
WIDTH = 112
TILE = (320, 240)
FAR_MM = 2500
FONT = "Fira Code, Menlo, Consolas, DejaVu Sans Mono"


def main() -> None:
    """Record, and write live_table.svg, take_summary.svg and streams.png."""
    IMAGES.mkdir(exist_ok=True)
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
        cv2.imwrite(str(IMAGES / "streams.png"), contact_sheet(episode))


def write_svg(name: str, shown: RenderableType, title: str) -> None:
    """Draw what a terminal shows, without fonts from the network."""
    console = Console(file=io.StringIO(), record=True, width=WIDTH, height=40, force_terminal=True)
    console.print(shown)
    form = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    form = form.replace("Fira Code", FONT)
    (IMAGES / f"{name}.svg").write_text(console.export_svg(title=title, code_format=form), encoding="utf-8")


def contact_sheet(episode: Episode) -> NDArray[np.uint8]:
    """One row of pictures a slot, from five moments: [height, width, 3] uint8, bgr."""
    moments = np.linspace(episode.length * 0.1, episode.length * 0.9, 5).astype(int).tolist()
    rows = []
    for slot in episode.slots:
        tiles = [labelled(picture(episode, slot, i), slot if n == 0 else "", i) for n, i in enumerate(moments)]
        rows.append(np.hstack(tiles))
    return np.vstack(rows)


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


def labelled(image: NDArray[np.uint8], slot: str, row: int) -> NDArray[np.uint8]:
    """The picture in the size of a tile, its slot and row written on it."""
    tile = cv2.resize(image, TILE, interpolation=cv2.INTER_AREA)
    for colour, thick in (((0, 0, 0), 3), ((255, 255, 255), 1)):
        cv2.putText(tile, slot, (6, 18), cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, thick, cv2.LINE_AA)
        cv2.putText(tile, f"row {row}", (6, TILE[1] - 8), cv2.FONT_HERSHEY_SIMPLEX, 0.45, colour, thick, cv2.LINE_AA)
    return np.asarray(tile, np.uint8)


if __name__ == "__main__":
    main()
