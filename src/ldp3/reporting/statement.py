"""What a plan means for the people who sign for it: one page, made from the plan alone.

`templates/statement.txt` is the page, with holes for what the plan says. A line with an empty hole
is left out; its first character says what it is.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import groupby
from math import ceil, exp, log10
from os import PathLike
from pathlib import Path
from shlex import join
from string import Formatter
from typing import Any

import numpy as np
import polars as pl

from ldp3 import randomness
from ldp3.answers import Answer, Heading, Items, Passage, Snippet, Terms
from ldp3.arrays import FloatArray, IntArray
from ldp3.attacks.base import overtaking
from ldp3.budget import said_of
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.plan import Plan, as_plan
from ldp3.collection.vectors import THRESHOLD, example
from ldp3.collection.wire import TAG_BYTES
from ldp3.domain import Domain
from ldp3.errors import InvalidParameter
from ldp3.files import write_text
from ldp3.printing import number, percent
from ldp3.protocols.pure import PureOracle
from ldp3.reporting.html import render
from ldp3.reporting.page import page_path
from ldp3.results import names

BELIEVED = (0.5, 0.1, 0.01)  # before a report is seen
LISTED, LONGEST, SHOWN_BYTES = 4, 40, 24  # labels that are named, characters, bytes of an example
LOOKED_THROUGH = 10_000  # values; of more it is not said for which of them a report counts


def statement(
    plan: Plan | str | PathLike[str],
    path: str | PathLike[str] | None = None,
    *,
    counts: str | PathLike[str] | None = None,
    sample: IntArray | None = None,
    plugins: Iterable[str | Path] = (),
) -> Answer:
    """One page for those who are asked, who audit, and who answer for data protection.

    Parameters
    ----------
    plan
        A plan, or its file.
    path
        The .html or .md file to write it to.
    counts, sample
        Counts of the collection, or how many people of a sample hold each value: how many fake
        users would swap the two most frequent values.
    plugins
        Python files that define the protocol, where it is not one of ours.

    Examples
    --------
    >>> from ldp3 import Plan, statement
    >>> page = statement(Plan("colours", ["red", "green", "blue"], "oue", 1.0))
    >>> "from 50 % to 73.1 %" in page.render("markdown")
    True
    """
    target = None if path is None else page_path(path, ".md")
    extra = [str(file) for file in plugins]
    made = as_plan(plan, extra)
    words = _words(made) | {"files": join(["PLAN" if made is plan else str(plan), *extra])}
    if counts is not None and sample is not None:
        raise InvalidParameter("Two values are swapped in `counts` or in a sample: give one.")
    if counts is not None:
        words |= _swapped_counts(made, Aggregator.load(counts, extra), str(counts))
    if sample is not None:
        words |= _swapped_people(made, sample)
    odds = {"before": BELIEVED, "at_most": [1 - _doubt(one, made.epsilon) for one in BELIEVED]}
    drawn = {"value": made.label(0), "report": example(made)["report"]}
    data = {"plan": made.describe(), "example": drawn, "odds": pl.DataFrame(odds)}
    answer = Answer(_passages(words), data)
    if target and target.suffix == ".md":
        write_text(target, answer.render("markdown") + "\n")
    elif target:
        parts = [(type(part).__name__, part) for part in answer.parts]
        write_text(target, render("statement.html", {"name": made.name, "parts": parts}))
    return answer


def _passages(words: Mapping[str, Any]) -> list[Passage]:
    """The page, with its holes filled."""
    page = files("ldp3.reporting").joinpath("templates", "statement.txt")
    made: list[Passage] = []
    for mark, lines in groupby(page.read_text(encoding="utf-8").splitlines(), lambda one: one[0]):
        said = [line[2:].format_map(words) for line in lines if _known(words, line)]
        match mark:
            case "#":
                made += map(Heading, said)
            case "-":
                made.append(Items(said))
            case "*":
                halves = (line.partition(": ") for line in said)
                made.append(Terms({term: [rest] for term, _, rest in halves}))
            case "$":
                made += [Snippet(line, "bash") for line in said]
            case _:
                made += said
    return made


def _known(words: Mapping[str, Any], line: str) -> bool:
    """Whether every hole of a line can be filled; nothing to say is None or empty, not zero."""
    holes = [name.partition(".")[0] for _, name, _, _ in Formatter().parse(line) if name]
    return all(words.get(hole) not in (None, "") for hole in holes)


def _words(plan: Plan) -> dict[str, Any]:
    """What fills the holes."""
    oracle, factor = plan.oracle, exp(plan.epsilon)
    sent, ratio = bytes.fromhex(example(plan)["report"]), oracle.privacy_ratio
    more = f" … ({len(sent):,} bytes)" if len(sent) > SHOWN_BYTES else ""
    words = {
        "plan": plan,
        "name": _cut(plan.name),
        "facts": ", ".join(plan.facts),
        "value": _cut(plan.label(0)),
        "report": f"{sent[:TAG_BYTES].hex()} {sent[TAG_BYTES:SHOWN_BYTES].hex()}{more}",
        "tag": TAG_BYTES,
        "rises": ", ".join(_rise(before, plan.epsilon) for before in BELIEVED),
        "factor": f"{factor:,.{3 if factor < 1_000 else 0}f}",
        "large": " ".join(said_of(plan.epsilon)),
        "shuffled": plan.shuffled and str(plan.shuffled),
        "year": 12 * plan.epsilon,
        "often": _rise(0.5, 12 * plan.epsilon),
        "protocol": names.protocol(plan.protocol),
        "layout": json.dumps(oracle.layout.describe()),
        "constants": _constants(plan),
        "groups": _groups(plan),
        "ratio": "Not stated by the protocol: rely on its proof, and on ldp3 verify",
        "collected": _collected(plan),
        "no_lift": _chosen_groups(plan),
    }
    words |= _by_lot(plan)
    if ratio is not None:
        held = "not above" if ratio <= randomness.exp(plan.epsilon) else "ABOVE the promised"
        words["ratio"] = (
            f"By these numbers no report is more than {number(float(ratio), 9)} times as likely "
            f"under one value as under another, which is {held} e^{plan.epsilon:g}"
        )
    if isinstance(oracle, PureOracle):
        lift = (1 - oracle.q) / (oracle.p - oracle.q)
        words |= {"pure": oracle, "lift": number(lift), "no_lift": ""}
        if plan.d <= LOOKED_THROUGH:
            reports, _ = plan.wire.accept(np.frombuffer(sent, dtype=np.uint8)[None], {})
            codes = [v for v in range(plan.d) if oracle.supports(reports, v)[0]]
            few = f": {_few(plan, codes)}" if codes else ""
            words["counted"] = f"{len(codes):,} of {plan.d:,} values{few}"
    return words


def _constants(plan: Plan) -> str:
    """What reports are drawn with, of a scheme for each group."""
    said = ["; ".join(_constant(*one) for one in own.constants.items()) for own in plan.oracles]
    if len(said) == 1:
        return said[0] or "none"
    return "; ".join(f"group {number}: {one or 'none'}" for number, one in enumerate(said))


def _views(plan: Plan) -> list[str]:
    """What each group is asked."""
    called = [attribute.name for attribute in plan.attributes]
    return [
        " and ".join(
            called[a] if bins is None else f"{called[a]} in {bins} bins" for a, bins in v.parts
        )
        for v, _, _ in plan.groups or ()
    ]


def _groups(plan: Plan) -> str:
    shares = [percent(share / randomness.WORDS) for _, share, _ in plan.groups or ()]
    parts = zip(_views(plan), shares, plan.groups or (), strict=True)
    return "; ".join(f"{share} are asked {view} by {spec}" for view, share, (_, _, spec) in parts)


def _by_lot(plan: Plan) -> dict[str, str]:
    """What a scheme means for the person who is asked; empty where everybody is asked the same."""
    views, many = _views(plan), len(plan.attributes)
    if len(views) < 2:
        return {"lot": "", "together": ""}
    asked = ", or ".join(dict.fromkeys(views[:LISTED])) + (", or …" if len(views) > LISTED else "")
    lot = (
        f"By lot, before your device looks at your answer, you are in one of {len(views)} groups, "
        f"which are asked for {asked}. The report says which group it is of, which tells "
        f"nothing of you."
    )
    together = (
        f"ε = {plan.epsilon:g} is for all your {many} answers together, not for each: what your "
        f"group is not asked is not in the report at all."
    )
    return {"lot": lot, "together": together if many > 1 else ""}


def _collected(plan: Plan) -> str:
    """What is asked, attribute by attribute."""
    if len(plan.attributes) == 1:
        (only,) = plan.attributes
        name = _cut(plan.name if only.name == Domain.name else only.name)
        return f"One random report on {name}, which has {_values(only)}."
    each = " ".join(f"{_cut(one.name)} has {_values(one)}." for one in plan.attributes)
    return f"One random report on the attributes that a person's group is asked. {each}"


def _values(attribute: Domain) -> str:
    other, d = attribute.other, attribute.d
    outside = "refused on the device" if other is None else f"reported as {_cut(other)}"
    return f"{d:,} possible values: {_few(attribute, range(d))}. What lies outside is {outside}"


def _chosen_groups(plan: Plan) -> str:
    """What fake users can do to a scheme, and what they gain if they choose their group."""
    pure = [own for own in plan.oracles if isinstance(own, PureOracle)]
    if plan.groups is None or not pure:
        return "How much fake users can do is not known: the protocol does not say."
    lift = max((1 - own.q) / (own.p - own.q) for own in pure)
    least = min(share for _, share, _ in plan.groups) / randomness.WORDS
    return (
        f"If 1 % of the reports of a group are fake, they can lift a value in what the group says "
        f"by up to {number(lift)} percentage points before post-processing. Fake users who choose "
        f"their group can all be in the smallest, where they are up to {number(1 / least)} times "
        f"as many as by lot: let the group follow from an identifier that you authenticate "
        f"(Plan.group_of), and look at ldp3 inspect. The protocol cannot prevent it: limit who may "
        f"send."
    )


def _swapped_counts(plan: Plan, server: Aggregator, counts: str) -> dict[str, Any]:
    """How many fake reports would swap the two values with the highest estimates."""
    if server.plan.identifier != plan.identifier:
        raise InvalidParameter(f"{counts}: are counts of another plan, {server.plan.name!r}.")
    if not isinstance(plan.oracle, PureOracle):
        return {}
    frequencies, supports = server.estimate().frequencies, plan.oracle.support_counts(server.tally)
    first, second, words = _two(plan, frequencies)
    # one report changes it by one
    return words | {"server": server, "swap": int(supports[first] - supports[second]) + 1}


def _swapped_people(plan: Plan, sample: IntArray) -> dict[str, Any]:
    """How many beside as many people, if frequencies are as in the sample."""
    people = int(np.sum(sample))
    if np.shape(sample) != (plan.d,) or not people:
        raise InvalidParameter(f"A sample is how many people hold each of the {plan.d:,} values.")
    if not isinstance(plan.oracle, PureOracle):
        return {}
    first, second, words = _two(plan, sample / people)
    swap = overtaking(plan.oracle, int(sample[first] - sample[second])).fake
    return words | {"people": people, "swap": swap, "share": percent(swap / (people + swap))}


def _two(plan: Plan, frequencies: FloatArray) -> tuple[int, int, dict[str, Any]]:
    """The two most frequent values, and how they are called on the page."""
    second, first = (int(code) for code in np.argsort(frequencies, kind="stable")[-2:])
    names_of = {"first": _cut(plan.label(first)), "second": _cut(plan.label(second))}
    lead = 100 * float(frequencies[first] - frequencies[second])
    return first, second, names_of | {"lead": lead}


def _doubt(before: float, epsilon: float) -> float:
    """What is left of a doubt at least: a report changes odds by e^ε at most."""
    against = (1 - before) / before * exp(-epsilon)
    return against / (1 + against)


def _rise(before: float, epsilon: float) -> str:
    """From one belief to another, with digits that tell it from certainty as far as people read.

    >>> _rise(0.5, 1.0), _rise(0.5, 8.0), _rise(0.5, 40.0)
    ('from 50 % to 73.1 %', 'from 50 % to 99.97 %', 'from 50 % to more than 99.9999 %')
    """
    doubt = _doubt(before, epsilon)
    if doubt < 1e-6:
        return f"from {100 * before:.0f} % to more than 99.9999 %"
    digits = max(1, ceil(-log10(doubt)) - 2)
    return f"from {100 * before:.0f} % to {100 * (1 - doubt):.{digits}f} %"


def _constant(name: str, whole: int) -> str:
    share = f" / 2⁶⁴ ≈ {number(whole / randomness.WORDS, 6)}" if whole >= THRESHOLD else ""
    return f"{name} = {whole}{share}"


def _few(plan: Plan | Domain, codes: Sequence[int]) -> str:
    """Some labels, and how many more there are."""
    more = f" and {len(codes) - LISTED:,} more" if len(codes) > LISTED else ""
    return ", ".join(_cut(plan.label(code)) for code in codes[:LISTED]) + more


def _cut(label: str) -> str:
    return f"“{label if len(label) <= LONGEST else label[: LONGEST - 1] + '…'}”"
