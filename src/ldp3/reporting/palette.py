"""Colours, markers and dashes that tell lines apart without full colour vision, or in print.

Okabe and Ito's colours but for yellow and black, and four more that keep apart from them; `DARK`
has the same hues for a dark page. Ten colours, seven markers and four dashes repeat only together,
after 140 lines. What was not post-processed is grey.
"""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
    "#56b4e9", "#aa4466", "#8f8f1f", "#44aa99", "#7b68c8",
)  # fmt: skip
DARK = (
    "#4aa8e0", "#ff8a3d", "#2fc79a", "#e59ac3", "#f5b942",
    "#a5daf7", "#e07a9b", "#c5c54a", "#6fd0c0", "#a79bf0",
)  # fmt: skip
GREY = "#808080"
DASHES = ((1, 0), (6, 2), (2, 2), (8, 2, 2, 2))


def colours(names: Sequence[str], among: Sequence[str] = COLOURS) -> list[str]:
    """One colour per name."""
    others = [name for name in names if name != "none"]
    return [GREY if n == "none" else among[others.index(n) % len(among)] for n in names]


def cycled(values: Sequence[T], count: int) -> list[T]:
    """The first `count` of the values, over and over."""
    return [values[i % len(values)] for i in range(count)]
