"""Which of a user's pages counts? The authors' file against every rule, from the raw streams."""

from typing import get_args

import numpy as np

import ldp3
from examples.reproduction import page
from examples.reproduction.data import Files, original
from ldp3.arrays import FloatArray
from ldp3.errors import InvalidParameter
from ldp3.reading.options import Pick


def compare(files: Files) -> str:
    """Largest frequencies under each rule, and how far all of them are from the authors'.

    The labels of the processed file are not those of the raw one, so frequencies are compared from
    the largest to the smallest.
    """
    processed = original("kosarak", files)
    if processed is None or files.kosarak_raw is None:
        raise InvalidParameter("ties needs --kosarak, the processed file, and --kosarak-raw.")
    truth, rows = _sorted(processed.frequencies), []
    for pick in get_args(Pick):
        raw = ldp3.load(f"kosarak(path={files.kosarak_raw!r}, pick={pick!r}, top={processed.d})")
        found = _sorted(raw.frequencies)
        distance = np.abs(found - truth).sum() / 2
        rows.append([pick, *(f"{f:.3f}" for f in found[:5]), f"{distance:.3f}"])
    rows.append(["the authors' file", *(f"{f:.3f}" for f in truth[:5]), ""])
    head = ["of a user's pages", "largest", "2nd", "3rd", "4th", "5th", "total variation"]
    return page.table(head, rows)


def _sorted(frequencies: FloatArray) -> FloatArray:
    return np.sort(frequencies)[::-1]
