"""The command line: one file per command. It parses, calls and prints."""

import sys
from importlib.util import find_spec
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

    sys.exit(run_command(sys.argv[1:]))
