"""What a range of numbers is called; a client needs this too, so nothing is imported here."""

import itertools
from collections.abc import Sequence


def range_labels(edges: Sequence[float], closed: bool = False) -> list[str]:
    """Half-open ranges with as many digits as tell the edges apart; the last one may be `closed`.

    >>> range_labels([0, 18, 65])
    ['[0, 18)', '[18, 65)']
    """
    different = len(set(edges))  # the last of equally many users may be [4, 4]
    return half_open(
        next(
            texts
            for digits in range(4, 18)
            if len(set(texts := [f"{edge:.{digits}g}" for edge in edges])) == different
        ),
        closed,
    )


def half_open(texts: Sequence[str], closed: bool = False) -> list[str]:
    """Each text with the next: ``[a, b)``."""
    labels = [f"[{low}, {high})" for low, high in itertools.pairwise(texts)]
    return [*labels[:-1], labels[-1][:-1] + "]"] if closed else labels
