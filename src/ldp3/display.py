"""What a notebook shows of a value: a name, facts, a table, remarks. All that goes in is text."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ldp3.arrays import BoolArray
from ldp3.printing import number, plural, visible

if TYPE_CHECKING:
    from ldp3.types import Dataset, Estimate, Table

ROWS = 10  # of a table that people look at
_BAR = 20  # characters
MARK = "●"  # what stands above the noise


def card(
    title: str,
    facts: Iterable[str],
    rows: Sequence[Sequence[str]] = (),
    remarks: Iterable[str] = (),
) -> str:
    """HTML without styles or scripts, so that any notebook shows it; `rows` begin with the heads.

    >>> card("<pages>", ["2 people"])
    '<div><b>&lt;pages&gt;</b><br>2 people</div>'
    """
    parts = [f"<div><b>{_text(title)}</b><br>{' · '.join(map(_text, facts))}</div>"]
    if rows:
        head, *body = rows
        parts.append(f"<table><thead>{_row(head, 'th')}</thead><tbody>")
        parts += [_row(cells, "td") for cells in body]
        parts.append("</tbody></table>")
    parts += [f"<div><small>{_text(remark)}</small></div>" for remark in remarks]
    return "".join(parts)


def of_dataset(data: "Dataset") -> str:
    """How many users hold the most frequent values."""
    order = np.argsort(-data.histogram, kind="stable")[:ROWS]
    top = float(data.frequencies.max())
    rows = [("value", "people", "share", "")]
    for i in order:
        share = float(data.frequencies[i])
        rows.append((data.labels[i], f"{data.histogram[i]:,}", f"{share:.2%}", bar(share, top)))
    facts = [plural(data.n, "person"), f"{data.d:,} {'ordered ' if data.ordered else ''}values"]
    return card(data.name, facts, rows, [*more(len(order), data.d), *data.notes])


def of_table(table: "Table") -> str:
    """The attributes, how many values each has, and which of them most people hold."""
    rows = [("attribute", "values", "most frequent", "share")]
    for j in range(min(len(table.names), ROWS)):
        one = table[j]
        top = int(one.histogram.argmax())
        share = f"{float(one.frequencies[top]):.2%}"
        rows.append((table.names[j], f"{one.d:,}", one.domain.label(top), share))
    held = plural(len(table.counts), "different record")
    facts = [plural(table.n, "person"), f"{held} of {table.d:,} possible"]
    remarks = more(len(rows) - 1, len(table.names), "attributes")
    return card(table.name, facts, rows, [*remarks, *table.notes])


def of_estimate(
    estimate: "Estimate",
    name: str = "Estimate",
    labels: Sequence[str] | None = None,
    remarks: Iterable[str] = (),
) -> str:
    """The largest estimates, their intervals, and which of them stand above the noise."""
    above, (low, high) = estimate.above_noise(), estimate.confidence_interval()
    if labels is None and estimate.domain is not None:
        labels = estimate.domain.labels
    order = np.argsort(-estimate.frequencies, kind="stable")[:ROWS]
    first = "code" if labels is None else "value"
    rows: list[Sequence[str]] = [(first, "", "frequency", "95 % from", "to", "people")]
    for i in order:
        frequency = estimate.frequencies[i]
        numbers = (f"{x:.4f}" for x in (frequency, low[i], high[i]))
        users = f"{estimate.n * frequency:,.0f}"
        label = str(i) if labels is None else labels[i]
        rows.append((label, MARK if above[i] else "", *numbers, users))
    facts = [
        f"{estimate.n:,} reports",
        f"{estimate.d:,} values",
        f"± {number(estimate.std.mean(), digits=2)}",
    ]
    return card(name, [*facts, standing(above)], rows, [*more(len(order), estimate.d), *remarks])


def standing(above: BoolArray) -> str:
    """How many values stand above the noise."""
    stand = "stands" if above.sum() == 1 else "stand"
    return f"{MARK} {above.sum():,} of {len(above):,} values {stand} above the noise"


def bar(share: float, of: float) -> str:
    """A bar of characters, as long as the share of the largest.

    >>> bar(0.1, of=0.4)
    '█████'
    """
    return "█" * round(_BAR * max(share, 0.0) / of) if of > 0 else ""


def more(shown: int, of: int, what: str = "values") -> list[str]:
    """That there are more, where there are."""
    return [f"… and {of - shown:,} more {what}"] if of > shown else []


def _row(cells: Sequence[str], tag: str) -> str:
    """Words to the left, numbers to the right."""
    sides = ["left" if i == 0 or cell[:1] in ("█", MARK) else "right"
             for i, cell in enumerate(cells)]  # fmt: skip
    inner = (
        f'<{tag} align="{side}">{_text(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(inner)}</tr>"


def _text(words: str) -> str:
    return escape(visible(words))
