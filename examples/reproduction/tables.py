"""The paper's three tables beside theory and our measurement, and which findings stand."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

import ldp3
from examples.reproduction import page, paper, theory
from examples.reproduction.data import Files, of_table, whose
from ldp3.arrays import FloatArray
from ldp3.people import Dataset
from ldp3.results import ties

Z95 = NormalDist().inv_cdf(0.975)
MILLI = 1e3  # the paper prints multiples of 10⁻³
ROUNDING = 0.01**2 / 12  # of two printed digits, in the same units
CHANCE = -NormalDist().inv_cdf(0.025 / 48)  # of all 48 numbers of a table, at 5 %
BEYOND_PAPER = ("npmle", "multiscale")


@dataclass(frozen=True)
class Measured:
    """One of the paper's tables, the data we have for it, and the mae of every repeat."""

    printed: paper.Table
    data: Dataset
    whose: str
    runs: dict[tuple[str, str], FloatArray]
    original: bool

    def mean(self, protocol: str, method: str) -> float:
        """× 10⁻³, as the paper prints."""
        return MILLI * float(self.runs[protocol, method].mean())

    def half_width(self, protocol: str, method: str) -> float:
        """Half of the 95 % confidence interval of the mean, as a fraction of it."""
        values = self.runs[protocol, method]
        return Z95 * float(values.std(ddof=1) / sqrt(len(values)) / values.mean())

    def deviation(self, protocol: str, method: str) -> float:
        """Printed less measured, in standard errors of both; the printed one has 10 repeats."""
        values = MILLI * self.runs[protocol, method]
        variance = float(values.var(ddof=1)) * (1 / paper.REPEATS + 1 / len(values))
        gap = self.printed.cells[protocol, method] - self.mean(protocol, method)
        return gap / sqrt(variance + ROUNDING)

    def expected(self, protocol: str) -> tuple[float, float]:
        """What theory says without post-processing, × 10⁻³: between these two.

        One number where the histogram is the paper's own; for a stand-in, the ends of what any
        histogram with the paper's n and d could give.
        """
        oracle = theory.pure(protocol, paper.EPSILON, self.data.d)
        if self.original:
            known = MILLI * theory.mae(oracle, self.data.n, self.data.frequencies)
            return known, known
        low, high = theory.mae_bounds(oracle, self.printed.n)
        return MILLI * low, MILLI * high


def measure(table: paper.Table, files: Files, repeats: int) -> Measured:
    """Every protocol × method of the paper at ε = 1 on the paper's data, or on what stands in."""
    data = of_table(table, files)
    methods = [*paper.METHODS, *BEYOND_PAPER]
    results = ldp3.benchmark(
        data, paper.EPSILON, list(paper.PROTOCOLS), methods, "mae", repeats=repeats
    )
    original = getattr(files, table.name) is not None
    return Measured(table, data, whose(table, files), ties.runs(results.table), original)


def without(measured: list[Measured]) -> str:
    """The "w/o PP" column: printed, by formula, measured; how far the printed one is from theory.

    The distance is from the nearest end of what theory allows; z is that distance in standard
    errors of a mean of 10 repeats, as we measure them.
    """
    rows, deviations = [], dict[str, list[tuple[float, float]]]()
    for m in measured:
        for protocol in paper.PROTOCOLS:
            printed, (low, high) = m.printed.cells[protocol, "none"], m.expected(protocol)
            ours = m.runs[protocol, "none"]
            error = float(ours.std(ddof=1) / ours.mean()) / sqrt(paper.REPEATS)
            gap = printed / min(max(printed, low), high) - 1
            deviations.setdefault(protocol, []).append((gap, error))
            rows.append([
                m.printed.name, protocol, f"{printed:.2f}",
                f"{low:.3f}" if low == high else f"{low:.3f}–{high:.3f}",
                f"{m.mean(protocol, 'none'):.3f}",
                f"± {100 * m.half_width(protocol, 'none'):.1f} %",
                f"{100 * gap:+.1f} %", f"{gap / error:+.1f}",
            ])  # fmt: skip
    head = ["table", "protocol", "printed", "theory", "measured", "95 % CI",
            "printed / theory − 1", "z"]  # fmt: skip
    together = []
    for protocol, seen in deviations.items():
        weights = np.array([1 / error**2 for _, error in seen])
        gaps = np.array([gap for gap, _ in seen])
        mean, error = float(gaps @ weights / weights.sum()), 1 / sqrt(weights.sum())
        p = 2 * NormalDist().cdf(-abs(mean / error))
        together.append([protocol, f"{100 * mean:+.1f} %", f"± {100 * Z95 * error:.1f} %",
                         f"{mean / error:+.1f}", f"{p:.2g}"])  # fmt: skip
    again = page.table(
        ["protocol", "printed / theory − 1, all three tables", "95 % CI", "z", "p"], together
    )
    return f"{page.table(head, rows)}\n\n{again}"


def side_by_side(measured: list[Measured]) -> str:
    """Each of the paper's tables, "printed · measured (deviation)"."""
    return "\n\n".join(_one(m) for m in measured)


def _one(m: Measured) -> str:
    head = ["protocol", "w/o PP", *paper.METHODS, *BEYOND_PAPER]
    rows = [
        [protocol, *(_cell(m, protocol, c) for c in ("none", *paper.METHODS)),
         *(_ours(m, protocol, c) for c in BEYOND_PAPER)]
        for protocol in paper.PROTOCOLS
    ]  # fmt: skip
    repeats = len(m.runs[paper.PROTOCOLS[0], "none"])
    about = (
        f"**{m.printed.title}** (MAE × 10⁻³, ε = 1; printed · measured ± half of the 95 % "
        f"confidence interval{' (deviation in standard errors)' if m.original else ''}; bold: the "
        f"row's lowest that we measure among the paper's methods). {m.whose} {repeats:,} repeats."
    )
    return f"{about}\n\n{page.table(head, rows)}"


def _cell(m: Measured, protocol: str, column: str) -> str:
    both = f"{m.printed.cells[protocol, column]:.2f} · {_ours(m, protocol, column)}"
    return f"{both} ({m.deviation(protocol, column):+.1f})" if m.original else both


def _ours(m: Measured, protocol: str, column: str) -> str:
    of_paper = {c: m.mean(protocol, c) for c in ("none", *paper.METHODS)}
    mean = m.mean(protocol, column)
    text = f"{mean:.3f} ± {mean * m.half_width(protocol, column):.3f}"
    return f"**{text}**" if min(of_paper, key=of_paper.__getitem__) == column else text


def agreement(measured: list[Measured]) -> str:
    """How many of the printed numbers are within chance of ours, by column."""
    rows = []
    for m in (each for each in measured if each.original):
        for column in ("none", *paper.METHODS):
            z = np.array([m.deviation(p, column) for p in paper.PROTOCOLS])
            gaps = [m.printed.cells[p, column] / m.mean(p, column) - 1 for p in paper.PROTOCOLS]
            rms = sqrt(float(np.mean(np.square(gaps))))
            rows.append([
                m.printed.name, column, f"{rms:.1%}", f"{min(gaps):+.1%} … {max(gaps):+.1%}",
                f"{np.sum(np.abs(z) < CHANCE)} of {len(z)}", f"{np.abs(z).max():.1f}",
            ])  # fmt: skip
    head = ["table", "column", "printed / measured − 1, rms", "from … to",
            f"within {CHANCE:.1f} standard errors", "the farthest"]  # fmt: skip
    return page.table(head, rows)


def findings(measured: list[Measured]) -> str:
    """Counts and tests behind each of the paper's findings, on the data we have."""
    rows = []
    for m in measured:
        mine = {pair: v for pair, v in m.runs.items() if pair[1] not in BEYOND_PAPER}
        tied = ties.ties(mine, "lower")
        leader = ties.leader({k: float(v.mean()) for k, v in mine.items()}, "lower")
        per_row = {p: _winners(mine, p) for p in paper.PROTOCOLS}
        helped = sum(_better(m, p, c, "none") for p in paper.PROTOCOLS for c in paper.METHODS)
        hurt = sum(_better(m, p, "none", c) for p in paper.PROTOCOLS for c in paper.METHODS)
        rows.append([
            m.data.name,
            f"{helped} better, {hurt} worse of {len(paper.PROTOCOLS) * len(paper.METHODS)}",
            "; ".join(f"{p}: {' ≈ '.join(sorted(w))}" for p, w in per_row.items()),
            " ≈ ".join(f"{p} + {c}" for p, c in [leader, *sorted(tied - {leader})]),
            f"{m.mean('oue', 'norm_sub') / m.mean(*leader) - 1:+.0%}",
            f"{m.mean('ss', 'power_ns') / m.mean(*leader) - 1:+.0%}",
            f"{min(m.mean('grr', c) for c in ('none', *paper.METHODS)) / m.mean(*leader):.1f} ×",
        ])  # fmt: skip
    head = ["data", "methods against none", "best method per protocol", "best of all",
            "oue + norm_sub against it", "ss + power_ns against it",
            "best of grr against it"]  # fmt: skip
    return page.table(head, rows)


def _winners(runs: dict[tuple[str, str], FloatArray], protocol: str) -> set[str]:
    row = {pair: values for pair, values in runs.items() if pair[0] == protocol}
    return {method for _, method in ties.ties(row, "lower")}


def _better(m: Measured, protocol: str, method: str, other: str) -> bool:
    """Whether a method's mae is lower: one-sided paired t-test at 0.05 over all tests made."""
    tests = 4 * len(paper.TABLES) * len(paper.PROTOCOLS) * len(paper.METHODS)
    pair = {key: m.runs[key] for key in ((protocol, method), (protocol, other))}
    means = {key: float(values.mean()) for key, values in pair.items()}
    leads = ties.leader(means, "lower") == (protocol, method)
    return leads and ties.p_values(pair, "lower")[protocol, other] < 0.05 / tests
