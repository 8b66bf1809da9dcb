"""A folder is played pair by pair; a file that cannot be used is named."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from operators.errors import DeviceError
from sources.rgbd_folder import list_pairs, rgbd_folder
from tests.source_events import Listener

KEY = "rgbd:folder"
FPS = 500.0


def write_folder(path: Path, count: int = 3, size: tuple[int, int] = (24, 32)) -> Path:
    for name in ("color", "depth"):
        (path / name).mkdir(parents=True)
    for number in range(count):
        write_color(path, f"{number:05d}", size, number)
        write_depth(path, f"{number:05d}", size, number)
    return path


def write_color(path: Path, stem: str, size: tuple[int, int], value: int = 0, end: str = ".jpg") -> None:
    image = np.full((*size, 3), (10 * value, 100, 200), dtype=np.uint8)
    assert cv2.imwrite(str(path / "color" / f"{stem}{end}"), image)


def write_depth(path: Path, stem: str, size: tuple[int, int], value: int = 0) -> None:
    assert cv2.imwrite(str(path / "depth" / f"{stem}.png"), np.full(size, 1000 + value, dtype=np.uint16))


def play(path: Path) -> Listener:
    with Listener(rgbd_folder(path, fps=FPS, key=KEY)) as heard:
        heard.until_end()
    return heard


def test_pairs_come_in_order_with_one_frameset_and_the_folder_completes(tmp_path: Path) -> None:
    heard = play(write_folder(tmp_path))
    assert heard.completed
    assert [event.port for event in heard.events] == ["depth", "color"] * 3
    for port in ("color", "depth"):
        assert [frame.frameset for frame in heard.frames(port)] == [0, 1, 2]
    assert [frame.image[0, 0] for frame in heard.frames("depth")] == [1000, 1001, 1002]
    assert heard.frames("depth")[0].pix_fmt == "gray16le"
    for color, depth in zip(heard.frames("color"), heard.frames("depth"), strict=True):
        assert color.host_ns == depth.host_ns


def test_colour_is_bgr_as_stored(tmp_path: Path) -> None:
    write_folder(tmp_path, count=1)
    (tmp_path / "color" / "00000.jpg").unlink()
    write_color(tmp_path, "00000", (24, 32), 3, end=".png")
    frame = play(tmp_path).frames("color")[0]
    assert frame.pix_fmt == "bgr24"
    assert frame.image[5, 5].tolist() == [30, 100, 200]


def test_unpadded_numbers_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    write_folder(tmp_path, count=0)
    for stem in ("10", "9", "2"):
        write_color(tmp_path, stem, (24, 32))
        write_depth(tmp_path, stem, (24, 32))
    assert [pair.color.stem for pair in list_pairs(tmp_path, key=KEY)] == ["2", "9", "10"]


def test_litter_in_the_folder_is_left_alone(tmp_path: Path) -> None:
    write_folder(tmp_path, count=1)
    (tmp_path / "color" / ".DS_Store").write_bytes(b"x")
    (tmp_path / "color" / "notes.txt").write_text("x")
    assert len(list_pairs(tmp_path, key=KEY)) == 1


@pytest.mark.parametrize(("folder", "file"), [("color", "00001.jpg"), ("depth", "00001.png")])
def test_a_picture_without_partner_is_named(tmp_path: Path, folder: str, file: str) -> None:
    write_folder(tmp_path)
    (tmp_path / folder / file).unlink()
    with pytest.raises(DeviceError, match=r"00001\.(jpg|png) has no partner in (color|depth)/"):
        list_pairs(tmp_path, key=KEY)


@pytest.mark.parametrize("folder", ["color", "depth"])
def test_a_missing_folder_is_named(tmp_path: Path, folder: str) -> None:
    write_folder(tmp_path, count=0)
    (tmp_path / folder).rmdir()
    if folder == "depth":
        write_color(tmp_path, "0", (24, 32))
    with pytest.raises(DeviceError, match=f"{folder}/ cannot be read"):
        list_pairs(tmp_path, key=KEY)


def test_an_empty_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"color/ has no picture"):
        list_pairs(write_folder(tmp_path, count=0), key=KEY)


def damage_empty(path: Path) -> None:
    path.write_bytes(b"")


def damage_truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def damage_foreign(path: Path) -> None:
    path.write_bytes(b"GIF89a" + b"\0" * 100)


def damage_flipped(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:60] + b"\xaa" * (len(data) - 80) + data[-20:])


def damage_huge(path: Path) -> None:
    data = bytearray(path.read_bytes())
    if path.suffix == ".png":
        data[16:24] = (60_000).to_bytes(4) * 2
    else:
        at = next(n for n in range(len(data)) if data[n] == 0xFF and data[n + 1] in (0xC0, 0xC2))
        data[at + 5 : at + 9] = (60_000).to_bytes(2) * 2
    path.write_bytes(data)


@pytest.mark.parametrize("name", ["color/00001.jpg", "depth/00001.png"])
@pytest.mark.parametrize("damage", [damage_empty, damage_truncated, damage_foreign, damage_huge])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, damage: object) -> None:
    write_folder(tmp_path)
    assert callable(damage)
    damage(tmp_path / name)
    heard = play(tmp_path)
    assert isinstance(heard.error, DeviceError)
    assert name in str(heard.error)
    assert len(heard.events) == 2


def test_a_depth_file_with_damaged_pixels_is_named(tmp_path: Path) -> None:
    write_folder(tmp_path, size=(240, 320))
    rng = np.random.default_rng(0)
    path = tmp_path / "depth" / "00001.png"
    assert cv2.imwrite(str(path), rng.integers(0, 5000, (240, 320)).astype(np.uint16))
    damage_flipped(path)
    assert "depth/00001.png" in str(play(tmp_path).error)


def test_after_a_bad_file_the_folder_goes_on_behind_it(tmp_path: Path) -> None:
    write_folder(tmp_path)
    damage_empty(tmp_path / "depth" / "00001.png")
    source = rgbd_folder(tmp_path, fps=FPS, key=KEY)
    seen = []
    for _ in range(2):
        with Listener(source) as heard:
            heard.until_end()
        seen += [frame.frameset for frame in heard.frames("color")]
    assert heard.completed
    assert seen == [0, 2]


def test_depth_of_eight_bits_is_refused(tmp_path: Path) -> None:
    write_folder(tmp_path, count=1)
    cv2.imwrite(str(tmp_path / "depth" / "00000.png"), np.zeros((24, 32), np.uint8))
    assert "16-bit grey, mm, is needed" in str(play(tmp_path).error)


def test_a_picture_of_another_size_is_named(tmp_path: Path) -> None:
    write_folder(tmp_path)
    write_color(tmp_path, "00001", (48, 64))
    assert "color/00001.jpg is 64×48, the pictures before it are 32×24" in str(play(tmp_path).error)


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan"), 1e6])
def test_an_impossible_rate_is_refused(tmp_path: Path, fps: float) -> None:
    with pytest.raises(DeviceError, match="fps"):
        rgbd_folder(tmp_path, fps=fps, key=KEY)
