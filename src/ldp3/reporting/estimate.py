"""The estimate of a real collection as one HTML page, without a single script."""

from html import escape
from typing import TYPE_CHECKING

from ldp3.reporting.page import style

if TYPE_CHECKING:
    from ldp3.collection.estimates import Answer

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="ldp3">
<title>LDP³ · {name}</title>
<style>{style}
td.chart {{ position: relative; width: 45%; min-width: 10rem; }}
td.chart i {{ position: absolute; display: block; }}
i.bar {{ top: 25%; height: 50%; left: 0; background: var(--bar); border-radius: 0 3px 3px 0; }}
i.range {{ top: 48%; height: 2px; background: var(--accent); }}
i.point {{ top: 30%; height: 40%; width: 3px; background: var(--accent); }}
</style>
</head>
<body>
<header>
<p class="brand">LDP³ estimate</p>
<h1>{name}</h1>
<p class="facts">{facts}</p>
</header>
<main>
<p class="note">Point and line: the unbiased estimate and its confidence interval. Bar: after
{method}, which is biased unless it is <i>none</i>. {refused}</p>
<div class="scroll"><table>
<thead><tr><th class="text">value</th><th class="text"></th><th>frequency</th><th>low</th>
<th>high</th><th>{method}</th></tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
</main>
</body>
</html>
"""


def estimate_page(answer: "Answer") -> str:
    """Labels, frequencies, intervals and post-processed values, as bars and numbers."""
    about, table = answer.about, answer.table
    top = max(float(x) for name in ("high", "processed") for x in table[name]) or 1.0
    each = "for all values at once" if about["simultaneous"] else "each"
    refused = about["refused"]
    assert isinstance(refused, dict)
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in refused.items())
    return _PAGE.format(
        style=style(),
        name=escape(str(about["collection"])),
        facts=escape(
            f"{about['n']:,} reports · {about['protocol']}, ε = {about['epsilon']:g} · "
            f"intervals at level {about['level']:g}, {each}"
        ),
        method=escape(str(about["method"])),
        refused=escape(f"Reports left out: {left_out}." if left_out else ""),
        rows="\n".join(_row(row[0], row[1:], top) for row in table.rows()),
    )


def _row(label: str, numbers: tuple[float, ...], top: float) -> str:
    frequency, low, high, processed = numbers

    def share(x: float) -> str:
        return f"{100 * min(max(x, 0.0), top) / top:.2f}%"

    marks = (
        f'<i class="bar" style="width:{share(processed)}"></i>'
        f'<i class="range" style="left:{share(low)};width:{share(high - low)}"></i>'
        f'<i class="point" style="left:{share(frequency)}"></i>'
    )
    cells = "".join(f"<td>{x:.5f}</td>" for x in numbers)
    return f'<tr><td class="text">{escape(label)}</td><td class="chart">{marks}</td>{cells}</tr>'
