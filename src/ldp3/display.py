"""What a notebook shows of a value: a name, facts, a table, remarks. All that goes in is text."""

from collections.abc import Iterable, Sequence
from html import escape
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from ldp3.arrays import BoolArray, FloatArray
from ldp3.printing import number, plural, visible

if TYPE_CHECKING:
    from ldp3.associations import Shares
    from ldp3.people import Dataset, Table
    from ldp3.types import Estimate

ROWS = 10  # of a table that people look at
_BAR = 20  # characters
TICKS = 5  # values that are named below a drawing
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
    remarks: Iterable[str] = (),
    processed: FloatArray | None = None,
) -> str:
    """The largest estimates, their intervals, and which of them stand above the noise.

    Of values in order a drawing, too, of what a method made of them where that is known; quantiles
    in place of single values from protocols that tell little of these.
    """
    if estimate.correlated and estimate.until() is not None:  # single values are mostly noise
        asked = {f"quantile {q:g}": estimate.quantile(q) for q in (0.1, 0.25, 0.5, 0.75, 0.9)}
        lines = [(k, *map(q.said, (q.value, q.low, q.high))) for k, q in asked.items()]
        head, facts = ("", "estimate", "95 % from", "to"), [plural(estimate.n, "report")]
        return _drawn(estimate, processed) + card(name, facts, [head, *lines], remarks)
    above, (low, high) = estimate.above_noise(), estimate.confidence_interval()
    labels = None if estimate.domain is None else estimate.domain.labels
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
        plural(estimate.n, "report"),
        f"{estimate.d:,} values",
        f"± {number(estimate.std.mean(), digits=2)}",
    ]
    said = [*more(len(order), estimate.d), *remarks]
    return _drawn(estimate, processed) + card(name, [*facts, standing(above)], rows, said)


def of_shares(shares: "Shares") -> str:
    """The shares within each row, with their intervals."""
    rows = [("among", *shares.columns[:ROWS])]
    for i, name in enumerate(shares.rows[:ROWS]):
        numbers = zip(shares.share[i], shares.low[i], shares.high[i], strict=True)
        cells = [f"{s:.4f} ({a:.4f} to {b:.4f})" if isfinite(s) else "–" for s, a, b in numbers]
        rows.append((name, *cells[:ROWS]))
    cut = more(ROWS, len(shares.rows), "rows") + more(ROWS, len(shares.columns), "columns")
    return card("Shares within each row", [f"intervals of {shares.level:.4g}"], rows, cut)


def _drawn(estimate: "Estimate", processed: FloatArray | None) -> str:
    until = None if estimate.domain is None else estimate.until()
    if estimate.domain is None or until is None:
        return ""
    shares = np.maximum(estimate.frequencies, 0) if processed is None else processed
    share = until.shares if processed is None else np.cumsum(processed)
    return distribution(estimate.domain.labels, shares, share, until.low, until.high)


def distribution(
    labels: Sequence[str],
    shares: FloatArray,
    until: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> str:
    """Values in order as a drawing: a histogram, and below it the shares up to each, with a band.

    Parameters
    ----------
    labels, shares
        Of each value.
    until, low, high
        The share of people up to each value, and the ends of its interval.
    """
    d, width, height = len(shares), 600.0, 120.0
    slot, top = width / d, float(max(np.max(shares), 1e-300))
    x = np.arange(d + 1) * slot

    def steps(heights: FloatArray, base: float) -> list[str]:
        y = base - height * np.clip(np.repeat(heights, 2), 0, 1)
        across = np.repeat(x, 2)[1:-1]
        return [f"{a:.1f},{b:.1f}" for a, b in zip(across, y, strict=True)]

    first, second = height + 10, 2 * height + 30  # where the two parts stand
    bars = " ".join([f"0,{first}", *steps(shares / top, first), f"{width},{first}"])
    band = " ".join([*steps(high, second), *reversed(steps(low, second))])
    rules = [(first, "0"), (first - height, f"{top:.2g}"),
             (second, "0"), (second - height / 2, "½"), (second - height, "1")]  # fmt: skip
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-45 -2 660 {second + 28}" width="660" '
        f'font-family="sans-serif" font-size="11" role="img" '
        f'aria-label="share of people in each value, and up to each value">'
    ]
    for y, said in rules:
        parts.append(f'<path d="M0 {y}H{width}" stroke="#999" stroke-width="0.5"/>')
        parts.append(f'<text x="-5" y="{y + 4}" text-anchor="end" fill="#777">{said}</text>')
    parts.append(f'<polygon points="{bars}" fill="#0072b2"/>')
    parts.append(f'<polygon points="{band}" fill="#d55e00" fill-opacity="0.25"/>')
    line = " ".join(steps(until, second))
    parts.append(f'<polyline points="{line}" fill="none" stroke="#d55e00" stroke-width="1.5"/>')
    marked = np.unique(np.linspace(0, d - 1, min(d, TICKS)).round().astype(int))
    for i in marked:
        side = "start" if i == 0 else "end" if i == d - 1 else "middle"
        at = {"start": 0.0, "end": width}.get(side, float(x[i] + slot / 2))
        parts.append(
            f'<text x="{at:.1f}" y="{second + 16}" text-anchor="{side}" fill="#777">'
            f"{_text(str(labels[i])[:18])}</text>"
        )
    return "".join([*parts, "</svg>"])


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
