"""Test vectors for clients in any language: descriptions and words in, bytes of reports out.

    python -m ldp3.collection.vectors docs/wire-format-vectors.json

They hold every deployable protocol, by its name and by its `examples`: a new one needs no line
here. Word i of case c of a plan is the start of the SHA-256 of "plan's name, c, i", but for the
words that are put to the edges of the protocol's thresholds.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import combinations, count
from pathlib import Path
from typing import Any

from ldp3.arrays import WordArray
from ldp3.collection.client import report_from_words
from ldp3.collection.plan import Plan, deployable
from ldp3.collection.wire import VERSION
from ldp3.files import write_text
from ldp3.kinds import look_up
from ldp3.protocols.base import FrequencyOracle
from ldp3.randomness.thresholds import WORDS
from ldp3.randomness.words import Words

SETTINGS = (1.0, 5), (1.0, 8), (0.5, 17), (4.0, 1_000), (2.0, 1_000_003)  # ε and d
LONGEST = 128  # bits of a report, so that people can still read the file
THRESHOLD = 2**32  # a constant below is a size or a version, not a share of 2⁶⁴ words
PLACES = 3  # the first words of a report are put to the edges, one at a time
WHAT = (
    "description + 64-bit words (hexadecimal, in the order of use) in, report bytes out; see "
    "wire-format.md"
)


def plans() -> Iterator[Plan]:
    """Every protocol on small and large domains, where its reports are short enough to read.

    Other parameters only on the smaller domains: clients in slow languages run these too.
    """
    kind: type[FrequencyOracle] = FrequencyOracle  # type: ignore[type-abstract]
    for name in deployable():
        examples = look_up(kind, name).examples
        for spec in (name, *examples):
            for epsilon, d in SETTINGS[:-1] if spec in examples else SETTINGS:
                plan = Plan(f"{spec}, d = {d}", spec, epsilon, d)
                if plan.oracle.report_bits <= LONGEST:
                    yield plan


def vector(plan: Plan) -> dict[str, Any]:
    """The description; reports of values at both ends and between; on a small domain the edges."""
    values = (0, 0, 1, plan.d // 2, plan.d - 1, plan.d - 1)
    reports = [_report(plan, value, case) for case, value in enumerate(values)]
    if plan.d == SETTINGS[0][1]:
        reports += _at_edges(plan, len(values))
    return {"description": plan.describe(), "reports": reports}


def _at_edges(plan: Plan, case: int) -> Iterator[dict[str, Any]]:
    """Reports of value 1: some lies lie below it and some above."""
    for place in range(PLACES):
        for edge in _edges(plan.oracle.constants.values()):
            report = _report(plan, 1, case, place, edge)
            if place < len(report["words"]):
                yield report


def _edges(constants: Iterable[int]) -> list[int]:
    """Where words begin to mean something else: thresholds, alone and one after the other."""
    thresholds = [constant for constant in constants if constant >= THRESHOLD]
    starts = {0, *thresholds, *map(sum, combinations(thresholds, 2)), WORDS}
    return sorted({word for start in starts for word in (start - 1, start) if 0 <= word < WORDS})


def _report(plan: Plan, value: int, case: int, place: int = -1, edge: int = 0) -> dict[str, Any]:
    """A report from digests, with `edge` for the word at `place`."""

    def word(i: int) -> int:
        return edge if i == place else _word(plan.name, case, i)

    words = _Counted.of(map(word, count()))
    report = report_from_words(plan, value, words)
    used = [f"{word(i):016x}" for i in range(words.used)]
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


def text() -> str:
    """The file: one line for each report."""
    head = json.dumps({"what": WHAT, "version": VERSION})[:-1]
    vectors = ",\n".join(_lines(vector(plan)) for plan in plans())
    return f'{head},\n"vectors": [\n{vectors}\n]}}\n'


def _lines(vector: dict[str, Any]) -> str:
    description = json.dumps(vector["description"], ensure_ascii=False)
    reports = ",\n".join(f"  {json.dumps(report)}" for report in vector["reports"])
    return f' {{"description": {description},\n "reports": [\n{reports}\n ]}}'


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Name the file to write: python -m ldp3.collection.vectors FILE")
    write_text(Path(sys.argv[1]), text())
