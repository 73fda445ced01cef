"""The command line: one file per command. It parses, calls and prints."""

import atexit
import gc
import io
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

NEEDED = ("cyclopts", "numba", "polars", "rich", "scipy")


def main() -> NoReturn:
    """Run a command and exit with its code."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        say = f"ldp3: the commands need {', '.join(missing)}: pip install 'ldp3[full]'."
        print(say, file=sys.stderr)
        sys.exit(2)
    from ldp3.cli.app import run_command
    from ldp3.progress import obey_the_second

    # or Python, before it ends, would search all modules for garbage: a fifth of a short command
    atexit.register(gc.freeze)
    _require_streams()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, obey_the_second)
    sys.exit(run_command(sys.argv[1:]))


def _require_streams() -> None:
    """Refuse to work for nobody; let no character be one that the terminal cannot show.

    Files and pipes get UTF-8, as what we write to a path, also where that is not yet the rule: a
    table sent to a file on Windows would lose ε, and every label that its old code pages lack.
    """
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # or the first file to be opened would be taken for a stream that is closed
    os.close(spare)
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        print("ldp3: standard output is closed: send it to a file.", file=sys.stderr)
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=_encoding(stream), errors="backslashreplace")


def _encoding(stream: io.TextIOWrapper) -> str:
    """What a person asked for, or the terminal's own; otherwise UTF-8."""
    named = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    asked = named or stream.isatty()
    return stream.encoding if asked else "utf-8"
