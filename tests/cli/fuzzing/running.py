"""Run command lines and look at how they end."""

import contextlib
import io
import os
import shutil
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from ldp3.cli.app import run_command
from tests.cli.fuzzing.lines import line
from tests.cli.fuzzing.workshop import workshop

PATIENCE = 300  # seconds after which a line counts as hanging, however busy the machine is
AGAIN = 200  # lines that share a folder: what they overwrite and leave behind is part of the game
CODES = (0, 1, 2, 3)


@dataclass(frozen=True)
class Failure:
    """A line that ended as no line may."""

    seed: int
    line: list[str]
    why: str


def run_line(seed: int) -> Failure | None:
    """Run a line in the current folder; what was wrong with its end."""
    words = line(seed)
    out, err = _Written(), _Written()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            code = run_command(words)
    except SystemExit as left:
        code = left.code  # type: ignore[assignment]
    except BaseException:
        return Failure(seed, words, traceback.format_exc())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    said = err.text()
    if code not in CODES:
        return Failure(seed, words, f"exit code {code!r}")
    if "Traceback" in said:
        return Failure(seed, words, said)
    last = said.rstrip("\n").split("\n")[-1]
    if code == 2 and not last.startswith("ldp3: "):
        return Failure(seed, words, f"exit code 2, and said {said!r}")
    if code == 2 and len(last) > 1500:
        return Failure(seed, words, f"said {len(last)} characters: {last[:300]}")
    if any(c in out.text() + said for c in "\x1b\x9b\u202e\u2028"):
        return Failure(seed, words, "an escape sequence reached the terminal")
    return None


class _Written(io.TextIOWrapper):
    """A stream that encodes strictly, as a terminal's does."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode("utf-8", "surrogateescape")  # type: ignore[attr-defined]


@contextlib.contextmanager
def folders() -> Iterator[Callable[[], None]]:
    """A scratch folder to work in; what is given makes it anew."""
    home = Path(tempfile.mkdtemp(prefix="ldp3-fuzzing-"))
    before = Path.cwd()
    pattern = home / "pattern"
    pattern.mkdir()
    workshop(pattern)
    os.chdir(pattern)
    quiet = ["run", "-d", "values.txt", "-p", "grr", "-m", "norm", "-r", "2", "-q", "-o"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for output in ("results.csv", "results"):
            run_command([*quiet, output])

    def renew() -> None:
        os.chdir(home)
        shutil.rmtree(home / "work", ignore_errors=True)
        shutil.copytree(pattern, home / "work", symlinks=True)
        os.chdir(home / "work")

    try:
        yield renew
    finally:
        os.chdir(before)
        shutil.rmtree(home, ignore_errors=True)


def fuzz(seeds: range) -> Iterator[Failure]:
    """The lines of these seeds that ended as no line may."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"still at work after {PATIENCE} s")

    handler = signal.signal(signal.SIGALRM, late)
    try:
        with folders() as renew:
            for seed in seeds:
                if seed % AGAIN == 0 or seed == seeds.start:
                    renew()
                signal.alarm(PATIENCE)
                failure = run_line(seed)
                signal.alarm(0)
                if failure is not None:
                    yield failure
    finally:
        signal.signal(signal.SIGALRM, handler)
