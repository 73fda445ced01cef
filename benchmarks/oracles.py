"""Which protocol? Noise, bits, time of client and server for every protocol of the literature.

Noise is the stated one, n·Var of a value that nobody holds where all others are equally frequent,
of n = 10⁶ users, which matters where a fixed family of hash functions has a floor; times are
measured at ε = 1, on one core. `python -m benchmarks oracles` also writes the tables of
docs/oracles.md and its figure.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np

import ldp3
from benchmarks.timing import best, peak_megabytes
from ldp3.errors import LDPError
from ldp3.kinds import find
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.sketches import Sketch
from ldp3.randomness import Words, stream
from ldp3.recommendation.costs import measure as cost
from ldp3.results import names

EPSILONS = 0.5, 1.0, 2.0, 4.0
SIZES = 128, 1024, 65_536, 2**20
USERS = 10**6  # that the server's time and noise are told for
HASHES = 2**28  # of a fixed family, that are timed
PAGE = Path(__file__).parents[1] / "docs" / "oracles.md"


def noise(oracle: FrequencyOracle) -> float:
    """n·Var of a value that nobody holds, beside others that are equally frequent."""
    even = np.full(oracle.d, 1 / oracle.d)
    stated = oracle.noise(even, USERS)
    return float(USERS * (stated.variance(even) - stated.slope * even).mean())


def measure(d: int) -> dict[str, Any]:
    """All protocols on one domain."""
    rows = []
    for name, cls in find(FrequencyOracle).items():
        if name == "ue" or cls.needs_records:  # ue is oue
            continue
        row: dict[str, Any] = {"protocol": name, "instead": cls.instead}
        try:
            oracles = [ldp3.oracle(name, e, d) for e in EPSILONS]
        except LDPError:
            continue
        timed = not isinstance(oracles[1], Sketch) or oracles[1].k * d <= HASHES
        row["bits"] = [oracle.report_bits for oracle in oracles]
        row["noise"] = [noise(oracle) for oracle in oracles] if timed else None
        if timed:
            spent = cost(oracles[1])
            row["client"] = one_by_one(oracles[1]) if oracles[1].deployable else None
            row["perturb"], row["count"] = spent.perturb, spent.count
            row["decode"], row["server"] = spent.decode, spent.server(USERS)
        rows.append(row)
    return {"d": d, "rows": rows}


def one_by_one(oracle: FrequencyOracle) -> float:
    """Seconds to draw one report, as a client does."""
    words, many = Words.drawn(stream(0, "client")), 1
    while True:
        began = time.thread_time()
        for value in range(many):
            oracle.draw(value % oracle.d, words)
        seconds = time.thread_time() - began
        if seconds >= 0.02 or many >= 1024:
            return seconds / many
        many *= 4


def million(name: str, n: int = 10**8, d: int = 2**20) -> dict[str, Any]:
    """A hundred million users over a million values, from values to frequencies."""
    oracle = ldp3.oracle(name, 1.0, d)
    values = ldp3.stream(0, "values").integers(d, size=min(n, oracle.chunk_size))
    oracle.estimate(oracle.aggregate(oracle.perturb(values[:1000], ldp3.stream(0))))

    def work() -> None:
        tally, left = oracle.empty, n
        while left > 0:
            some = values[:left]
            tally += oracle.aggregate(oracle.perturb(some, ldp3.stream(0, left)))
            left -= len(some)
        oracle.estimate(tally)

    seconds = best(work, rounds=1)
    return {"protocol": name, "d": d, "users": n, "seconds": seconds, "peak_mb": peak_megabytes()}


def write_page(results: list[dict[str, Any]], page: Path = PAGE) -> None:
    """Put the tables between the marks of the page."""
    head, _, rest = page.read_text(encoding="utf-8").partition("<!-- measured -->\n")
    tail = rest.partition("<!-- end -->\n")[2]
    text = "\n".join(_table(result) for result in results)
    page.write_text(f"{head}<!-- measured -->\n{text}<!-- end -->\n{tail}", encoding="utf-8")


def _table(result: dict[str, Any]) -> str:
    lines = [
        f"### d = {result['d']:,}\n",
        "| | noise, ε = 0.5 / 1 / 2 / 4 | bits, ε = 1; 4 | client, µs | server, s | decode, s |",
        "|---|---|---|---|---|---|",
    ]
    for row in sorted(result["rows"], key=lambda r: (bool(r["instead"]), r["protocol"])):
        name = names.protocol(row["protocol"]) + (" ·" if row["instead"] else "")
        values = row["noise"] or []
        told = " / ".join(map(_number, values)) or "–"
        client = row.get("client")
        cells = [
            name,
            told,
            f"{row['bits'][1]:,}; {row['bits'][3]:,}",
            _number(client * 1e6) if client else "–",
            _number(row["server"]) if "server" in row else "–",
            _number(row["decode"]) if "decode" in row else "–",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    if value < 1e-3:
        return f"{value:.1g}"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
