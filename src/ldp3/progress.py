"""What a person at a terminal sees and does while a run works: notes, progress, Ctrl-C."""

import signal
import sys
import time
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

PATIENCE = 1.0  # seconds before progress is shown


def say(text: str) -> None:
    """One line on stderr."""
    print(text, file=sys.stderr, flush=True)


class Stop:
    """Ctrl-C and SIGTERM as a wish to stop; the second one is not asked but obeyed."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number

    def asked(self) -> bool:
        """Whether to stop."""
        return self.signal is not None


class Progress:
    """A bar with the time left, on a terminal only and for what takes longer than a second."""

    def __init__(self, cells: int, done: int = 0, *, quiet: bool = False) -> None:
        self.cells = cells
        self.done = float(done)
        self.shown = sys.stderr.isatty() and not quiet
        self._began = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tick(self, cells: float) -> None:
        """So many cells more are finished."""
        self.done += cells
        if self.shown and self._bar is None and time.monotonic() - self._began > PATIENCE:
            self._bar = self._open()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.done)

    def _open(self) -> "Bar":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.completed:.0f}/{task.total:.0f} cells"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=Console(stderr=True),
            transient=True,
            speed_estimate_period=600,
        )
        bar.add_task("", total=self.cells, completed=int(self.done))
        bar.start()
        return bar
