"""Rows with more or fewer fields than the first, found fast and named by their line."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import IntArray
from ldp3.kernels.compile import njit

QUOTE, LINE_FEED, RETURN = 34, 10, 13
FIELDS, INSIDE, LINE, LENGTH, OPENED = range(5)  # of the state between two blocks


def ragged(blocks: Iterable[bytes], separator: str, width: int) -> str | None:
    """What is wrong with the first row that has not `width` fields; None if all have.

    A quoted cell may hold separators and line feeds; blank lines are no rows.
    """
    state = np.array([1, 0, 1, 0, 0], dtype=np.int64)
    last = b"\n"
    for block in blocks:
        codes = np.frombuffer(block, dtype=np.uint8)
        quoted = bool(state[INSIDE]) or b'"' in block
        if _differs(codes, ord(separator), quoted, width, state):
            return _said(state, width)
        last = block[-1:]
    if state[INSIDE]:
        return f"line {state[OPENED]:,} has a double quote that is out of place or never closed."
    end = np.array([LINE_FEED], dtype=np.uint8)
    if last != b"\n" and _differs(end, ord(separator), False, width, state):
        return _said(state, width)
    return None


def _said(state: IntArray, width: int) -> str:
    fields, line = int(state[FIELDS]), int(state[LINE])
    many = f"{fields} field" + ("s" if fields != 1 else "")
    return (
        f"line {line:,} has {many} where the first row has {width}; put a cell that holds the "
        f"separator in double quotes, or give `delimiter`, or `input_format` (lines, transactions)."
    )


@njit
def _differs(
    block: NDArray[np.uint8], separator: int, quoted: bool, width: int, state: IntArray
) -> bool:
    """Whether a row that ends in this block is no row of `width` fields; the state says where."""
    fields, inside, line, length = state[FIELDS], state[INSIDE], state[LINE], state[LENGTH]
    for i in range(len(block)):
        code = block[i]
        if quoted:
            if code == QUOTE:
                inside = 1 - inside
                if inside:
                    state[OPENED] = line
            if inside:
                line += code == LINE_FEED
                length = 1
                continue
        fields += code == separator
        length |= (code != LINE_FEED) & (code != RETURN)
        if code == LINE_FEED:
            if fields != width and length:
                state[FIELDS], state[LINE] = fields, line
                return True
            fields, length, line = 1, 0, line + 1
    state[FIELDS], state[INSIDE], state[LINE], state[LENGTH] = fields, inside, line, length
    return False
