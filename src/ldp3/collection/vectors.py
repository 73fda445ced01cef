"""Test vectors for clients in any language: plans and words in, bytes of reports out.

    python -m ldp3.collection.vectors docs/wire-format-vectors.json
    python -m ldp3.collection.vectors vectors.json pages.ldp3.json

The second are those of one plan, to check its clients; files that define its protocol may follow.
The first hold every deployable protocol, by its name and by its `examples`: a new one needs no
line here. Word i of case c of a plan is the start of the SHA-256 of "plan's name, c, i", but for
the words that are put to the edges of the protocol's thresholds.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import combinations, count
from math import inf, prod
from pathlib import Path
from typing import Any

import numpy as np

from ldp3.arrays import WordArray
from ldp3.collection.client import report_from_words
from ldp3.collection.plan import Plan, deployable
from ldp3.collection.wire import VERSION
from ldp3.domain import Bins, Domain, Grid, Integers, Labels, Records
from ldp3.edges import as_edges
from ldp3.errors import InvalidValue, LDPError
from ldp3.files import write_text
from ldp3.kinds import look_up
from ldp3.protocols.base import FrequencyOracle
from ldp3.randomness import WORDS, Words
from ldp3.schemes.base import Scheme, View, whole_shares

SETTINGS = (1.0, 5), (1.0, 8), (0.5, 17), (4.0, 1_000), (2.0, 1_000_003)  # ε and d
RECORDS = (1.0, (3, 2, 5)), (3.0, (2, 40, 7))  # ε and the sizes of three attributes
LONGEST = 128  # bits of a report, so that people can still read the file
THRESHOLD = 2**32  # a constant below is a size or a version, not a share of 2⁶⁴ words
PLACES = 3  # the first words of a report are put to the edges, one at a time
WHAT = (
    "vectors: plan + 64-bit words (hexadecimal, in the order of use) in, report bytes out; "
    "domains: plan + value in, code out, null if it is refused; see wire-format.md"
)


def plans() -> Iterator[Plan]:
    """Every protocol on small and large domains, where its reports are short enough to read.

    Other parameters only on the smaller domains: clients in slow languages run these too.
    """
    for name in deployable():
        cls = look_up(FrequencyOracle, name)
        examples, ordered = cls.examples, cls.needs_order
        for spec in (name, *examples):
            for epsilon, d in SETTINGS[:-1] if spec in examples else SETTINGS:
                if d > cls.most_values:
                    continue
                values = Integers(d, ordered=ordered)
                plan = _steady(Plan(f"{spec}, d = {d}", values, spec, epsilon, "none"))
                if plan.oracle.report_bits <= LONGEST:
                    yield plan
    for name in deployable(records=True):
        for epsilon, sizes in RECORDS:
            parts = [Integers(d, name=letter) for d, letter in zip(sizes, "abc", strict=True)]
            plan = _steady(Plan(f"{name}, d = {sizes}", Records(parts), name, epsilon, "none"))
            if plan.oracle.report_bits <= LONGEST:
                yield plan
    yield _in_bins()


def _in_bins() -> Plan:
    """Views that take attributes in bins, which need not divide them."""
    parts = [Integers(d, name=letter) for d, letter in zip(RECORDS[0][1], "abc", strict=True)]
    views = View(((2, 2),)), View(((0, 2), (2, 3))), View(((1, None), (2, 4)))
    shares = whole_shares([1] * len(views))
    groups = list(zip(views, shares, ("grr", "pgr", "grr"), strict=True))
    return Plan("views in bins", Records(parts), "smp", 1.0, "none", groups=groups)


def _steady(plan: Plan) -> Plan:
    """The plan with round shares: the last digits of an optimiser differ between machines."""
    if plan.groups is None:
        return plan
    groups = plan.groups
    shares = whole_shares([max(1, round(1_000 * share / WORDS)) for _, share, _ in groups])
    round_ones = [
        (view, share, spec) for (view, _, spec), share in zip(groups, shares, strict=True)
    ]
    return Plan(plan.name, plan.domain, plan.protocol, plan.epsilon, plan.method, groups=round_ones)


def vector(plan: Plan, edges: bool = False) -> dict[str, Any]:
    """The plan; reports of values at both ends and between; on a small domain the edges, too."""
    values = (0, 0, 1, plan.d // 2, plan.d - 1, plan.d - 1)
    reports = [_report(plan, value, case) for case, value in enumerate(values)]
    if edges or plan.d in (SETTINGS[0][1], prod(RECORDS[0][1])):
        reports += _at_edges(plan, len(values))
    return {"plan": plan.describe(), "reports": reports}


def example(plan: Plan) -> dict[str, Any]:
    """The first report of a plan's vectors."""
    return _report(plan, 0, 0)


def domains() -> Iterator[dict[str, Any]]:
    """What a client makes of values: each kind of domain, at its edges and outside."""
    ages = 0.0, 18.0, 65.0, 120.0
    years = -1, 0, 17, 17.999999999999996, 18, 18.5, 64, 65, 119.99, 120, 1e300, "old"
    yield _domain("bins", Bins(ages), years)
    yield _domain("bins and other", Bins(ages, other="no answer"), (*years, "no answer"))
    yield _domain("a closed last bin", Bins(ages, closed=True), (119.99, 120, 120.00000000000001))
    open_ends = -1e300, -0.5, -0.4999999999999999, 0.1, 0.2, 0.201, 1e300
    yield _domain("bins with open ends", Bins((-inf, -0.5, 0.1, 0.201, inf)), open_ends)
    # numbers that Python writes as 1e-07, 1e+16 and 1e+22, others as 1e-7 and 10000000000000000
    wide = 1e-07, 0.00012, 1.5, 1e16, 123456789012345680.0, 1e22
    yield _domain("bins of all sizes", Bins((0, *wide)), (0, 1e-8, *wide, 9e15, 1e21))
    days = "2026-01-01", "2026-03-29 02:30:00", "2026-07-01", "2027-01-01"
    times = (
        "2025-12-31", "2026-01-01", "2026/01/01", "2026-3-29", "2026-03-29 02:29:59.999999",
        "2026-03-29T02:30:00", "2026-06-30 23:59:59", "2026-12-31", "2027-01-01", "2026-02-30",
        "spring", "1969-12-31",
    )  # fmt: skip
    yield _domain("dates", Bins(as_edges(days, dates=True), dates=True), times)
    eras = as_edges(("1850-01-01", "1969-12-31 23:59:59.5", "2300-01-01"), dates=True)
    since = Bins(eras, dates=True, other="never")
    yield _domain("dates and other", since, ("1849-12-31", "1969-12-31 23:59:59.5", *times))
    cells = Grid((40, 40.5, 41), (-75, -74.2, -73.5, -73))
    pairs = (40, -75), (40.7, -73.9), (40.5, -73.5), (40.49999, -73), (41, -74), (39, -74)
    yield _domain("a grid", cells, pairs)
    yield _domain("a grid and other", replace(cells, other="elsewhere"), (*pairs, "elsewhere"))
    yield _domain("labels", Labels(["red", "green"]), ("red", "green", "mauve", "Red"))
    yield _domain("labels and other", Labels(["red"], other="another"), ("red", "mauve", "another"))
    scripts = Labels(["ß", "日本", "𝔸", "🙂", "e\u0301", "é"], other="…")  # beyond 16 bits, too
    yield _domain("labels of all scripts", scripts, (*scripts.names, "🙃", "…"))
    in_order = Labels(["0.5", "1e-07", "2"], [0.5, 1e-07, 2.0], ordered=True)
    yield _domain("numbers as labels", in_order, ("0.5", "1e-07", "2"))
    yield _domain("integers", Integers(5), (0, 4, 5, -1), epsilon=1e-05)
    yield _domain("integers and other", Integers(5, other="more"), (0, 4, 5, -1, "more"))
    yield _records()
    mixed = Plan("shuffled", ["yes", "no"], "grr", 1.0, batch=10_000, delta=1e-09)
    yield {"plan": mixed.describe(), "codes": _codes(mixed, ("yes", "no"))}


def _records() -> dict[str, Any]:
    """Of several attributes, the code of each; a missing answer is `other`, where there is one."""
    sex, age = Labels(["f", "m"], name="sex", other="no answer"), Bins((0, 18, 65), name="age")
    plan = Plan("records", Records([sex, age]), "smp", 1.0, "none")
    given: list[dict[str, object]] = [
        {"sex": "f", "age": 17}, {"age": 18, "sex": "m"}, {"sex": None, "age": 64.5},
        {"sex": "x", "age": 0}, {"sex": "f", "age": 65}, {"sex": "f", "age": None}, {"sex": "f"},
        {"sex": "f", "age": 1, "place": "here"},
    ]  # fmt: skip
    codes = [{"value": record, "code": _columns(plan, record)} for record in given]
    return {"plan": plan.describe(), "codes": codes}


def _columns(plan: Plan, record: object) -> list[int] | None:
    code = _code(plan, record)
    assert isinstance(plan.domain, Records)
    return None if code is None else plan.domain.columns(np.array([code]))[0].tolist()


def _domain(
    name: str, domain: Domain, values: Iterable[object], epsilon: float = 1.0
) -> dict[str, Any]:
    plan = Plan(name, domain, "oue", epsilon)
    return {"plan": plan.describe(), "codes": _codes(plan, values)}


def _codes(plan: Plan, values: Iterable[object]) -> list[dict[str, object]]:
    return [{"value": value, "code": _code(plan, value)} for value in values]


def _code(plan: Plan, value: object) -> int | None:
    try:
        return plan.code(value)
    except InvalidValue:
        return None


def _at_edges(plan: Plan, case: int) -> Iterator[dict[str, Any]]:
    """Reports of value 1: some lies lie below it and some above; of a scheme, in every group."""
    lots: list[dict[int, int]] = [{}]
    if isinstance(plan.oracle, Scheme):
        bounds = plan.oracle.bounds
        lots = [{0: start} for start in (0, *bounds[:-1])]  # the least word of each group
        yield from (_report(plan, 1, case, {0: bound - 1}) for bound in bounds)
    for lot, oracle in zip(lots, plan.oracles, strict=True):
        for place in range(len(lot), len(lot) + PLACES):
            for edge in _edges(oracle.constants.values()):
                report = _report(plan, 1, case, {**lot, place: edge})
                if place < len(report["words"]):
                    yield report


def _edges(constants: Iterable[int]) -> list[int]:
    """Where words begin to mean something else: thresholds, alone and one after the other."""
    thresholds = [constant for constant in constants if constant >= THRESHOLD]
    starts = {0, *thresholds, *map(sum, combinations(thresholds, 2)), WORDS}
    return sorted({word for start in starts for word in (start - 1, start) if 0 <= word < WORDS})


def _report(plan: Plan, code: int, case: int, put: dict[int, int] | None = None) -> dict[str, Any]:
    """A report from digests, with other words `put` into some places.

    Of several attributes the value is a record, with the code of each.
    """
    fixed = put or {}

    def word(i: int) -> int:
        return fixed.get(i, _word(plan.name, case, i))

    words = _Counted.of(map(word, count()))
    report = report_from_words(plan, code, words)
    used = [f"{word(i):016x}" for i in range(words.used)]
    value: int | dict[str, int] = code
    if isinstance(plan.domain, Records):
        codes = plan.domain.columns(np.array([code]))[0].tolist()
        value = dict(zip(plan.domain.names, codes, strict=True))
    return {"value": value, "words": used, "report": report.hex()}


def _word(name: str, case: int, i: int) -> int:
    return int.from_bytes(sha256(f"{name}, {case}, {i}".encode()).digest()[:8])


class _Counted(Words):
    """Words that tell how many of them were used."""

    used = 0

    def __next__(self) -> int:
        self.used += 1
        return super().__next__()

    def take(self, count: int) -> WordArray:
        self.used += count
        return super().take(count)


def text(only: Plan | None = None) -> str:
    """The file: one line for each report, and for each value; of one plan, or of all above."""
    head = json.dumps({"what": WHAT, "version": VERSION})[:-1]
    shown = map(vector, plans()) if only is None else [vector(only, edges=True)]
    vectors = ",\n".join(_lines(one, "reports") for one in shown)
    values = ",\n".join(_lines(one, "codes") for one in (domains() if only is None else ()))
    return f'{head},\n"vectors": [\n{vectors}\n],\n"domains": [\n{values}\n]}}\n'


def _lines(vector: dict[str, Any], cases: str) -> str:
    plan = json.dumps(vector["plan"], ensure_ascii=False)
    lines = ",\n".join(f"  {json.dumps(case)}" for case in vector[cases])
    return f' {{"plan": {plan},\n "{cases}": [\n{lines}\n ]}}'


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Name the file to write: python -m ldp3.collection.vectors FILE [PLAN]")
    file, *plan = sys.argv[1:]
    try:
        write_text(Path(file), text(Plan.load(plan[0], plan[1:]) if plan else None))
    except LDPError as error:
        sys.exit(str(error))
