"""Deployment: what is sent is what was drawn, from whole numbers, with the law of `perturb`."""

import json
from collections.abc import Iterator

import numpy as np

from ldp3.arrays import FloatArray, Reports
from ldp3.errors import whole
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import Words
from ldp3.verification.base import Finding, exact
from ldp3.verification.cases import OracleCase, persistent
from ldp3.verification.independence import traits
from ldp3.verification.statistics import told_apart_p
from ldp3.verification.supports import own_and_others_p

DRAWN_ONE_BY_ONE = 2_000  # per value, of short reports


def written(case: OracleCase) -> Iterator[Finding]:
    """A report is written and read without loss."""
    layout = case.oracle.layout
    for reports in case.reports.values():
        some = reports[:1_000]
        rows = layout.encode(some)
        read = layout.decode(rows)
        sound = rows.dtype == np.uint8 and rows.shape == (len(some), layout.size)
        same = sound and np.array_equal(read, some) and case.oracle.valid(read).all()
        if not same or max(_numbers(rows)) >> layout.bits:
            evidence = f"rows of {rows.dtype} {rows.shape[1:]} for {layout.bits} bits"
            yield exact("A report is written and read without loss", False, evidence)
            return
    evidence = f"{layout.bits} bits in {layout.size} bytes"
    yield exact("A report is written and read without loss", True, evidence)


def hostile_bytes(case: OracleCase) -> Iterator[Finding]:
    """Bytes are one report or none: no report can be written in two ways."""
    layout, rng = case.oracle.layout, case.stream("bytes")
    honest = layout.encode(next(iter(case.reports.values()))[:500])
    turned = honest ^ (np.uint8(1) << rng.integers(8, size=honest.shape, dtype=np.uint8))
    rows = np.concatenate([rng.integers(0, 256, honest.shape, dtype=np.uint8), turned])
    read = layout.decode(rows)
    ok = case.oracle.valid(read)
    same = np.array_equal(layout.encode(read[ok]), rows[ok])
    evidence = f"{int(ok.sum())} of {len(rows)} rows of foreign bytes are reports"
    yield exact("No report can be written in two ways", same, evidence)


def described(case: OracleCase) -> Iterator[Finding]:
    """What a client must know is whole numbers, and can be written as JSON."""
    constants = case.oracle.constants
    wrong = [name for name, number in constants.items() if not whole(number, 0)]
    evidence = f"not so: {', '.join(wrong)}" if wrong else ", ".join(constants)
    yield exact("The constants of `draw` are whole numbers", not wrong, evidence)
    text = json.dumps(case.oracle.layout.describe(), default=str)
    same = json.loads(text) == case.oracle.layout.describe()
    yield exact("The layout can be written as JSON", same, text)


def drawing(case: OracleCase) -> Iterator[Finding]:
    """`draw` gives one whole number, from the words that it is given and from nothing else."""
    oracle, wrong, differ, seen = case.oracle, [], 0, set()
    first, again = (Words.drawn(case.stream("words")) for _ in range(2))
    for value in case.values * 8:
        number = oracle.draw(value, first)
        differ += number != oracle.draw(value, again)
        seen.add(number)
        if not whole(number, 0, 2**oracle.layout.bits - 1) or not _valid(case, number):
            wrong.append(number)
    evidence = f"got {wrong[0]!r} for {oracle.layout.bits} bits" if wrong else "all valid"
    yield exact("`draw` gives a whole number that is a valid report", not wrong, evidence)
    evidence = f"{differ} of {8 * len(case.values)} differ" if differ else "drawn twice"
    yield exact("The same words give the same report", not differ, evidence)
    yield exact("Other words give other reports", len(seen) > 1, f"{len(seen)} different ones")


def drawn_law(case: OracleCase) -> Iterator[Finding]:
    """`draw` has the law of `perturb`."""
    draws = sum(map(len, case.once(_drawn).values()))
    yield persistent("`draw` has the law of `perturb`", case, _same_law_p, draws)
    if isinstance(case.oracle, PureOracle):

        def p_values(again: OracleCase) -> FloatArray:
            return own_and_others_p(again, again.once(_drawn))

        name = "`draw` supports the own value with p, others with q"
        yield persistent(name, case, p_values, draws)


def _drawn(case: OracleCase) -> dict[int, Reports]:
    """Reports of each value drawn one by one; fewer if they are long."""
    usual, made = max(500, DRAWN_ONE_BY_ONE // max(1, case.oracle.report_bits // 64)), {}
    for value in case.values:
        words = Words.drawn(case.stream(f"draw {value}"))
        numbers = range(min(case.count(usual, 8), case.size))
        made[value] = _reports(case, [case.oracle.draw(value, words) for _ in numbers])
    return made


def _same_law_p(case: OracleCase) -> FloatArray:
    layout, p_values = case.oracle.layout, []
    for v, drawn in case.once(_drawn).items():
        # as they are read, for one may be of a wider type than the other
        sent = layout.decode(layout.encode(case.reports[v][: len(drawn)]))
        rng = case.stream(f"draw or perturb {v}")
        p_values.append(told_apart_p(traits(case, drawn), traits(case, sent), rng))
    return np.concatenate(p_values)


def _valid(case: OracleCase, number: int) -> bool:
    return bool(case.oracle.valid(_reports(case, [number])).all())


def _reports(case: OracleCase, numbers: list[int]) -> Reports:
    """Reports from the whole numbers that stand for them."""
    size = case.oracle.layout.size
    raw = b"".join(number.to_bytes(size, "little") for number in numbers)
    return case.oracle.layout.decode(np.frombuffer(raw, np.uint8).reshape(len(numbers), size))


def _numbers(rows: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> list[int]:
    """The whole numbers that rows of bytes stand for."""
    return [int.from_bytes(row.tobytes(), "little") for row in rows]
