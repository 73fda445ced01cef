"""What a person sees and does while something works: notes, a bar, Ctrl-C."""

import os
import signal
import sys
import time
import warnings
from contextlib import suppress
from importlib.util import find_spec
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from ldp3.printing import visible

if TYPE_CHECKING:
    from rich.progress import Progress as RichBar

PATIENCE = 1.0  # seconds before progress is shown


def say(text: str) -> None:
    """One line on stderr."""
    try:
        print(visible(text), file=sys.stderr, flush=True)
    except OSError:  # nobody can be told that nobody can be told
        forget(sys.stderr)


def forget(stream: TextIO) -> None:
    """Let what cannot be written be: Python would try again when it ends, and complain."""
    with suppress(OSError):  # no file stands behind it
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def obey_the_second(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """Stop at Ctrl-C in good order; whatever that takes, the next signal ends the program."""
    let_signals_end()
    raise KeyboardInterrupt


def let_signals_end() -> None:
    """From here on, let the system obey Ctrl-C and SIGTERM: it waits for nothing of ours."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Progress:
    """Somebody who is told how work advances and may ask it to stop; this one does neither."""

    def expect(self, cells: float, done: float = 0.0) -> None:
        """There will be so many cells, of which so many are done already."""

    def tick(self, cells: float) -> None:
        """So many cells more are finished."""

    def note(self, text: str) -> None:
        """Something that a person should know."""
        warnings.warn(text, stacklevel=3)

    def stopped(self) -> bool:
        """Whether to stop."""
        return False

    def begin(self) -> None:
        """Work begins."""

    def end(self) -> None:
        """Work is over."""

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.end()


class Bar(Progress):
    """A bar with the time left, where somebody looks and for what takes longer than a second."""

    def __init__(self, unit: str = "cells") -> None:
        self.unit = unit
        self._total, self._done = 0.0, 0.0
        self._began = time.monotonic()
        self._bar: RichBar | None = None

    def expect(self, cells: float, done: float = 0.0) -> None:
        self._total, self._done = cells, done
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], total=cells, completed=done)

    def tick(self, cells: float) -> None:
        self._done += cells
        late = time.monotonic() - self._began > PATIENCE
        if self._bar is None and late and _watched():
            self._bar = self._open()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _open(self) -> "RichBar":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn(f"{{task.completed:,.0f}}/{{task.total:,.0f}} {self.unit}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=Console(stderr=True),
            transient=True,
            speed_estimate_period=600,
        )
        bar.add_task("", total=self._total, completed=int(self._done))
        bar.start()
        return bar


class Terminal(Bar):
    """A bar and notes on stderr; Ctrl-C and SIGTERM as a wish to stop, the second one obeyed.

    A signal that is ignored, as a shell's background jobs ignore Ctrl-C, stays ignored.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__()
        self.quiet = quiet
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    def tick(self, cells: float) -> None:
        if self.stopped():
            Bar.end(self)  # the next signal may leave no time to give the cursor back
        elif not self.quiet:
            super().tick(cells)

    def note(self, text: str) -> None:
        if not self.quiet:
            say(f"note: {text}")

    def stopped(self) -> bool:
        return self.signal is not None

    def begin(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before = signal.signal(number, self._ask)
                self._before.setdefault(number, before)  # begun twice, it is our own

    def end(self) -> None:
        super().end()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _ask(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self.signal = number
        let_signals_end()


def _watched() -> bool:
    """Whether anybody sees a bar: at a terminal, or in a notebook that can show one."""
    return sys.stderr.isatty() or (
        "ipykernel" in sys.modules and find_spec("ipywidgets") is not None
    )


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
