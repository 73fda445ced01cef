"""One contract for every kind: which thing is meant, and what is found out about it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, inf, log2, prod
from pathlib import Path
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np

from ldp3 import specs
from ldp3.attacks.base import Attack, build_attack
from ldp3.errors import (
    InvalidParameter,
    LDPError,
    UnknownName,
    as_python,
    did_you_mean,
    needing_full,
    whole,
)
from ldp3.kinds import defined, find, known, name_of
from ldp3.metrics.base import Metric
from ldp3.plugins import load_plugins
from ldp3.postprocessing.base import PostProcessor, build_method, canonical_method
from ldp3.printing import number
from ldp3.progress import Bar, Progress
from ldp3.protocols.base import FrequencyOracle, build_oracle
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import stream
from ldp3.schemes.base import Scheme
from ldp3.verification.attacks import attack_findings
from ldp3.verification.base import DRAWS, Examination, Finding
from ldp3.verification.methods import method_findings
from ldp3.verification.metrics import metric_findings
from ldp3.verification.oracles import oracle_findings

# ε, d and the share of the draws. All of them where one value stands against one, where there are
# a few, more than fit into a word, or a large ε; fewer elsewhere, so that no range of ε from 0.1 to
# 12 and of d from 2 to 5,000 goes unseen. What matters most comes first.
SETTINGS = [
    (2.0, 5, 1.0), (0.5, 70, 1.0), (1.0, 2, 1.0), (5.0, 64, 1.0),
    (1.0, 1000, 0.25), (3.5, 17, 0.25), (0.1, 12, 0.25), (7.0, 100, 0.25),
    (2.5, 2, 0.1), (4.0, 3, 0.1), (1.5, 300, 0.1), (12.0, 8, 0.1), (1.0, 1500, 0.1),
    (3.0, 5000, 0.05),
]  # fmt: skip
# and for several attributes: their sizes
RECORDS = [
    (1.0, (2, 3, 4), 1.0),
    (2.0, (2, 2, 2, 2), 1.0),
    (4.0, (3, 5), 0.25),
    (0.5, (6, 7), 0.25),
]
MOST_JOINED = 1500  # values of a scheme: to join more takes minutes, and its oracles have seen them
LEAST = 100  # draws
SILENT = Progress()
CHECKED: dict[type, Any] = {  # the kinds that have a contract, and who examines them
    FrequencyOracle: oracle_findings,
    PostProcessor: method_findings,
    Metric: metric_findings,
    Attack: attack_findings,
}
# whom an attack meets: people, some of whose values nobody holds, and few or one target
PEOPLE = np.array([400, 300, 100, 80, 50, 30, 20, 10, 5, 3, 2, 0])
ATTACKED = (3, 7, 11), (0,)

# a slow protocol: where nobody says how many draws, those of about a minute are made
HANDLED = 24  # reports that are drawn and counted in all, for each of the draws
BEARABLE, LONG = 60.0, 150.0  # seconds of work aimed at, and after which no setting is begun


def findings(
    thing: FrequencyOracle | PostProcessor | Metric | Attack,
    seed: int = 0,
    draws: int = DRAWS,
    progress: Progress = SILENT,
) -> Iterator[Finding]:
    """Every check that applies to an oracle, a method, a metric or an attack, as they are made.

    >>> all(finding.passed for finding in findings(build_method("norm_sub")))
    True
    """
    made: Iterator[Finding] = CHECKED[_kind(thing, ())](thing, seed, draws, progress)
    return made


def verify(
    thing: Any,
    *,
    plugins: Sequence[str | Path] = (),
    seed: int = 0,
    draws: int | None = None,
    progress: Progress | None = None,
) -> Examination:
    """Check a protocol, a method, a metric or an attack: privacy, statistics, manners.

    Parameters
    ----------
    thing
        A spec such as ``"olh(g=4)"``, a class, or an object. An oracle is examined as it is; a
        spec or a class at small and large budgets and domains.
    plugins
        Files that define more of them.
    seed
        Where the randomness of the checks starts: the same thing, seed and draws, the same verdict.
    draws
        Reports of each value that is looked at closely; everything else that is drawn grows with
        it. What is suspicious is drawn again, twice and four times as often. By default 40,000, or
        fewer if a protocol is slow: then the answer says how many.
    progress
        Who is told how the work advances; a bar by default, where somebody looks.

    Examples
    --------
    >>> verdict = verify("norm_sub")
    >>> verdict.outcome, verdict.passed, len(verdict.failures)
    ('passed', True, 0)
    """
    with needing_full("ldp3.verify"):
        import numba  # noqa: F401 (or every check would fail for want of it)
        import polars  # noqa: F401
        import scipy  # noqa: F401
    draws = as_python(draws)
    if draws is not None and not whole(draws, LEAST):
        raise InvalidParameter(f"`draws` must be an integer of at least {LEAST}, got {draws!r}.")
    modules = load_plugins(plugins)
    kind = _kind(thing, modules)
    with progress or Bar("settings") as shown:
        name, subjects = _subjects(thing, kind, modules)
        shown.expect(len(subjects))
        asked, slow = (draws, "") if draws is not None else _affordable(subjects)
        began, made = process_time(), list[Finding]()
        for subject, share in subjects:
            late = draws is None and made and process_time() - began > LONG
            if isinstance(subject, Finding) or late:
                made.append(subject if isinstance(subject, Finding) else _left_out(subject))
                shown.tick(1)
                continue
            found = CHECKED[kind](subject, seed, max(LEAST, int(share * asked)), shown)
            # where the draws are few by choice, what they could not show is something to know
            made += [replace(f, unsure=False, note=True) if f.unsure and share < 1 else f
                     for f in found]  # fmt: skip
            if made[-1].raised:
                break
    return Examination(name, tuple(made), asked, slow)


Subjects = list[tuple[Any, float]]  # what to examine, or why it is not, and the share of the draws


def _subjects(thing: Any, kind: type, modules: Sequence[ModuleType]) -> tuple[str, Subjects]:
    """What the thing is called, and what there is to examine."""
    if kind is PostProcessor:
        return canonical_method(thing, *modules), [(build_method(thing, *modules), 1.0)]
    name = specs.canonical(kind, thing, *modules)
    if kind is FrequencyOracle and not isinstance(thing, FrequencyOracle):
        cls = specs.class_of(kind, thing, *modules)
        if cls.needs_records:
            return name, [(_at(thing, modules, e, prod(s), s), share) for e, s, share in RECORDS]
        most = MOST_JOINED if issubclass(cls, Scheme) else inf
        chosen = [setting for setting in SETTINGS if setting[1] <= most]
        return name, [(_at(thing, modules, e, d), share) for e, d, share in chosen]
    if kind is Attack and not isinstance(thing, Attack):
        return name, [(attack, 1.0) for attack in _attacks(thing, modules)]
    return name, [(specs.build(kind, thing, *modules), 1.0)]


def _at(
    thing: Any, modules: Sequence[ModuleType], epsilon: float, d: int, sizes: tuple[int, ...] = ()
) -> FrequencyOracle | Finding:
    """The oracle at one setting; one that it refuses with one line is no fault."""
    try:
        return build_oracle(thing, *modules, epsilon=epsilon, d=d, sizes=sizes)
    except LDPError as refusal:
        name, where = "Parameters that it cannot serve are refused", f"epsilon={epsilon:g}, d={d}"
        return Finding(name, True, str(refusal), setting=where)


def _attacks(thing: Any, modules: Sequence[ModuleType]) -> list[Attack]:
    """The attack on many targets, and on one where it can be."""
    made: list[Attack] = []
    for targets in ATTACKED:
        try:
            made.append(build_attack(thing, *modules, targets=targets, honest=PEOPLE.copy()))
        except LDPError:
            if not made:  # not for want of targets
                raise
    return made


def _affordable(subjects: Subjects) -> tuple[int, str]:
    """How many draws to make, and a remark if they are fewer than usual."""
    timed = [(_seconds_each(o), share) for o, share in subjects if isinstance(o, FrequencyOracle)]
    seconds = sum(each * share * HANDLED * DRAWS for each, share in timed)
    if seconds <= 2 * BEARABLE:  # what is not slow is drawn in full, whatever the machine
        return DRAWS, ""
    draws = max(LEAST, DRAWS >> ceil(log2(seconds / BEARABLE)))
    slow = number(1e6 * max(each for each, _ in timed))
    return draws, (
        f"It is slow: a report and what is made of it take up to {slow} µs. So {draws:,} draws are "
        f"made instead of {DRAWS:,}, which show neither large batches nor leaks that are "
        f"{DRAWS // draws} times as rare; all of them (`draws={DRAWS}`) would take about "
        f"{number(seconds / 60)} minutes."
    )


def _seconds_each(oracle: FrequencyOracle) -> float:
    """About how long it takes to draw a report, to look at it and to count it."""
    each = 0.0
    try:
        for n in (8, 64, 1_024):  # the first time much may have to be prepared
            values, began = np.arange(n) % oracle.d, process_time()
            reports = oracle.perturb(values, stream(0, "verify", "speed"))
            oracle.aggregate(reports)
            if isinstance(oracle, PureOracle):
                _ = [oracle.supports(reports, v) for v in range(min(8, oracle.d))]
            seconds = process_time() - began
            each = seconds / n
            if seconds > 0.1 and n > 8:
                break
    except Exception:  # the checks will meet it, and say so
        return 0.0
    return each


def _left_out(oracle: FrequencyOracle) -> Finding:
    where, why = (
        f"epsilon={oracle.epsilon:g}, d={oracle.d}",
        f"not begun after {LONG:.0f} seconds of work",
    )
    return Finding("Every setting is looked at", True, why, setting=where, unsure=True)


def named(names: Sequence[str], plugins: Sequence[Path]) -> list[str]:
    """What to verify: the names, or everything that the plug-ins define."""
    if names:
        return list(names)
    if not plugins:
        raise InvalidParameter("Say what to verify: a name, or a plug-in for all that is in it.")
    modules = load_plugins(plugins)
    found = [name_of(c) for kind in CHECKED for module in modules for c in defined(module, kind)]
    if not found:
        raise InvalidParameter(
            "There is nothing to verify in these plug-ins: datasets have no contract."
        )
    return found


def _kind(thing: Any, modules: Sequence[ModuleType]) -> type:
    """Whether it is an oracle, a method, a metric or an attack."""
    if not isinstance(thing, str):
        cls = thing if isinstance(thing, type) else type(thing)
        for kind in CHECKED:
            if issubclass(cls, kind):
                return kind
        raise InvalidParameter(f"A protocol, method, metric or attack is needed, got {thing!r}.")
    name, _ = specs.parse(next(iter(specs.split(thing, "+")), ""))
    for kind in CHECKED:
        if known(kind, name, *modules):
            return kind
    every = [n for kind in CHECKED for n in find(kind, *modules)]
    hint = did_you_mean(name.lower(), every) or " See `ldp3 list`."
    raise UnknownName(f"No protocol, method, metric or attack is called {name!r}.{hint}")
