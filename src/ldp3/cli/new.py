"""`ldp3 new`."""

from pathlib import Path
from typing import Literal

from ldp3.printing import show


def new(kind: Literal["protocol", "method", "metric", "attack"], name: str, /) -> None:
    """Write NAME.py and test_NAME.py into the current folder: a start that works and verifies.

    Parameters
    ----------
    kind
        What it is.
    name
        What it is called, in snake_case.
    """
    from ldp3.scaffolding import new as write

    code, test = write(kind, name, Path())
    show(f"Wrote {code} and {test}. Next: ldp3 verify {code.stem} --plugin {code}")
