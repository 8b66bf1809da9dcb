"""What an operator sees while a take is recorded: a table that is looked at, not read."""

from __future__ import annotations

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from flows.live_view import ColumnView, DeviceView, LiveView, SessionState, SlotView
from launcher.words import printable

__all__ = ["LiveTable", "live_table"]

GIB = 1024**3
LOAD_HIGH = 0.9
LOAD_SOME = 0.75
AGE_STALE_S = 1.0
"""A second without a frame is silence (`flows.session.SessionOptions.silence_s`)."""
DISK_LOW_MINUTES = 10.0
FPS_SHORT = 0.9
RATE_WIDTH = 10
"""Of a column's rate in the list of columns that are not video, with the space around it."""
WIDE = 100
"""Terminal width from which words are written out and loads are drawn."""
BAR_CELLS = 10

_STATES = {
    SessionState.CLOSED: ("closed", "dim"),
    SessionState.IDLE: ("ready", "bold green"),
    SessionState.ARMING: ("arming …", "bold yellow"),
    SessionState.PRIMING: ("waiting for the first frames …", "bold yellow"),
    SessionState.RECORDING: ("● recording", "bold red"),
    SessionState.ENDED: ("saving …", "bold yellow"),
    SessionState.COMMITTING: ("saving …", "bold yellow"),
}
_DEVICE_STYLES = {
    "opening": "yellow",
    "connected": "green",
    "silent": "red",
    "disconnected": "red",
    "ended": "dim",
}
_KEYS_RECORDING = (("space", "stop and save"), ("r", "discard and redo"), ("q", "save and quit"))
_KEYS_BETWEEN = (("space", "next take"), ("q", "quit"))


def live_table(
    view: LiveView, *, rig_fps: float, seconds: float | None = None, keys: bool = True, note: str = ""
) -> LiveTable:
    """The session as a renderable that fits itself to the terminal.

    Args:
        rig_fps: rows a second that the rig declares. seconds: length that the take will have, None: until stopped.
        keys: whether there is a keyboard to speak of. note: one line for the operator.
    """
    return LiveTable(view, rig_fps=rig_fps, seconds=seconds, keys=keys, note=note)


class LiveTable:
    """One picture of a `LiveView`; what is least needed gives way first where the terminal is small."""

    def __init__(self, view: LiveView, *, rig_fps: float, seconds: float | None, keys: bool, note: str) -> None:
        self._view = view
        self._rig_fps = rig_fps
        self._seconds = seconds
        self._keys = keys
        self._note = note

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        view = self._view
        needed: list[RenderableType] = [self._headline(options.max_width), self._slots(options.max_width)]
        troubled = [device for device in view.devices if device.reason or device.state in ("silent", "disconnected")]
        footer: list[RenderableType] = [_trouble(device) for device in troubled]
        if self._note:
            footer.append(Text(self._note, "yellow"))
        if self._keys:
            footer.append(self._key_line())
        room = options.size.height - 1
        for extra in (self._devices(), self._columns(options.max_width)):
            if extra is None:
                continue
            lines = len(console.render_lines(Group(*needed, extra, *footer), options))
            if lines <= room:
                needed.append(extra)
        yield Group(*needed, *footer)

    def _headline(self, width: int) -> RenderableType:
        view = self._view
        word, style = _STATES[view.state]
        taking = Text.assemble((word, style), "  ", (printable(view.task), "bold"), no_wrap=True, overflow="ellipsis")
        facts = Text(no_wrap=True, overflow="ellipsis")
        if view.k is not None:
            taking.append(f"  episode {view.k}")
            clock = _clock(view.seconds)
            taking.append(f"  {clock}" if self._seconds is None else f"  {clock} / {_clock(self._seconds)}", "bold")
            facts.append(f"{view.rows} rows, ")
            facts.append(f"{view.skipped_ticks} skipped ticks", "yellow" if view.skipped_ticks else "")
            facts.append("   ")
        facts.append_text(_disk(view))
        if width < WIDE:
            return Group(taking, facts)
        grid = Table.grid(expand=True, padding=(0, 2))
        grid.add_column()
        grid.add_column(justify="right")
        grid.add_row(taking, facts)
        return grid

    def _slots(self, width: int) -> RenderableType:
        wide = width >= WIDE
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
        table.add_column("slot", no_wrap=True, overflow="ellipsis", max_width=max(width - 52, 10))
        for name in ("real fps" if wide else "fps", "queue", "repeats", "drops", "age"):
            table.add_column(name, justify="right", min_width=8 if wide else 5, no_wrap=True)
        table.add_column("encoder load" if wide else "load", min_width=15 if wide else 4, no_wrap=True)
        if wide:
            table.add_column("encoder", style="dim", no_wrap=True)
        for slot in self._view.slots:
            lost = slot.dropped + slot.wrong_size
            cells = [
                Text(slot.slot),
                Text(f"{slot.fps:.1f}", "yellow" if slot.fps < FPS_SHORT * self._rig_fps else "green"),
                Text(str(slot.waiting + slot.encoder_waiting)),
                Text(str(slot.repeats), "yellow" if slot.repeats else ""),
                Text(str(lost), "red" if lost else ""),
                _age(slot),
                _load(slot, bar=wide),
            ]
            table.add_row(*cells, *([Text(slot.encoder)] if wide else []))
        return table

    def _devices(self) -> RenderableType | None:
        if not self._view.devices:
            return None
        line = Text(no_wrap=True, overflow="ellipsis")
        for device in self._view.devices:
            line.append("● ", _DEVICE_STYLES[device.state])
            line.append(f"{device.name or device.key}   ")
        return Group(line)

    def _columns(self, width: int) -> RenderableType | None:
        columns = self._view.columns
        if not columns:
            return None
        names = [column.column.removeprefix("observation.") for column in columns]
        longest = min(max(map(len, names)), width - RATE_WIDTH)
        abreast = max(1, width // (longest + RATE_WIDTH))
        grid = Table.grid(padding=(0, 1))
        for _ in range(abreast):
            grid.add_column(no_wrap=True, overflow="ellipsis", max_width=longest, style="dim")
            grid.add_column(no_wrap=True, justify="right", min_width=6)
            grid.add_column()
        for first in range(0, len(columns), abreast):
            cells: list[RenderableType] = []
            for name, column in zip(names[first:], columns[first : first + abreast], strict=False):
                cells += [Text(name), _rate(column), ""]
            grid.add_row(*cells)
        return Group(Text(), grid, Text())

    def _key_line(self) -> RenderableType:
        state = self._view.state
        keys: tuple[tuple[str, str], ...]
        if state is SessionState.RECORDING:
            keys = _KEYS_RECORDING
        elif state is SessionState.IDLE:
            keys = _KEYS_BETWEEN
        else:
            return Text()
        line = Text(no_wrap=True, overflow="ellipsis")
        for key, meaning in keys:
            line.append(f" {key} ", "reverse")
            line.append(f" {meaning}  ")
        return line


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(seconds, 0.0), 60)
    return f"{int(minutes)}:{rest:04.1f}"


def _disk(view: LiveView) -> Text:
    if view.disk_minutes is None and not view.disk_free:
        return Text()  # nobody has looked yet
    if view.disk_minutes is None:
        return Text(f"{view.disk_free / GIB:.1f} GiB free")
    low = view.disk_minutes < DISK_LOW_MINUTES
    if view.disk_minutes >= 24 * 60:
        return Text("disk: more than a day")
    hours, minutes = divmod(int(view.disk_minutes), 60)
    words = f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"
    return Text(f"disk: {words} left", "bold red" if low else "")


def _age(slot: SlotView) -> Text:
    if slot.age_s is None:
        return Text("no frame", "red")
    if slot.age_s >= AGE_STALE_S:
        return Text(f"{slot.age_s:.1f} s", "bold red")
    return Text(f"{slot.age_s * 1000:.0f} ms")


def _load(slot: SlotView, *, bar: bool) -> Text:
    if not slot.encoder:
        return Text("–", "dim")
    style = "red" if slot.encoder_load > LOAD_HIGH else "yellow" if slot.encoder_load > LOAD_SOME else "green"
    if not bar:
        return Text(f"{slot.encoder_load:4.0%}", style)
    full = min(BAR_CELLS, round(slot.encoder_load * BAR_CELLS))
    return Text.assemble(("█" * full, style), ("░" * (BAR_CELLS - full), "dim"), f" {slot.encoder_load:4.0%}")


def _rate(column: ColumnView) -> Text:
    silent = column.age_s is None or column.age_s >= AGE_STALE_S
    line = Text(f"{column.rate:.0f}/s", "red" if silent else "green")
    if column.dropped:
        line.append(f" {column.dropped} dropped", "red")
    return line


def _trouble(device: DeviceView) -> Text:
    words = device.reason or {"silent": "sends nothing"}.get(device.state, device.state)
    return Text.assemble(
        ("● ", _DEVICE_STYLES[device.state]), (printable(f"{device.name or device.key}: {words}"), "red")
    )
