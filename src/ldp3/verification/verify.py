"""One contract for every kind: which thing is meant, and what is found out about it."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
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
from ldp3.progress import Bar, Progress
from ldp3.protocols.base import FrequencyOracle, build_oracle
from ldp3.verification.attacks import attack_findings
from ldp3.verification.base import Finding, Verdict
from ldp3.verification.cases import DRAWS
from ldp3.verification.methods import method_findings
from ldp3.verification.metrics import metric_findings
from ldp3.verification.oracles import oracle_findings

# one value against one, all of a few, more than fit into a word, many
SETTINGS = [*((e, d) for e in (0.5, 2.0) for d in (2, 5, 70)), (5.0, 64), (1.0, 1000)]
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
    return CHECKED[_kind(thing, ())](thing, seed, draws, progress)


def verify(
    thing: Any,
    *,
    plugins: Sequence[str | Path] = (),
    seed: int = 0,
    draws: int = DRAWS,
    progress: Progress | None = None,
) -> Verdict:
    """Check a protocol, a method, a metric or an attack: privacy, statistics, manners.

    Parameters
    ----------
    thing
        A spec such as ``"olh(g=4)"``, a class, or an object. An oracle is examined as it is; a
        spec or a class at small and large budgets and domains.
    plugins
        Files that define more of them.
    seed
        Where the randomness of the checks starts: the same thing and seed, the same verdict.
    draws
        Reports of each value that is looked at closely; everything else that is drawn grows with
        it. What is suspicious is drawn again, twice and four times as often.
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
        import scipy  # noqa: F401
    draws = as_python(draws)
    if not whole(draws, LEAST):
        raise InvalidParameter(f"`draws` must be an integer of at least {LEAST}, got {draws!r}.")
    modules = load_plugins(plugins)
    with progress or Bar("settings") as shown:
        name, parts = _parts(thing, modules, shown)
        made = [finding for part in parts for finding in part(seed, draws, shown)]
    return Verdict(name, tuple(made))


Part = Callable[[int, int, Progress], Iterator[Finding]]


def _parts(thing: Any, modules: Sequence[ModuleType], shown: Progress) -> tuple[str, list[Part]]:
    """What the thing is called, and what there is to examine."""
    kind = _kind(thing, modules)
    if kind is PostProcessor:
        name, one = canonical_method(thing, *modules), build_method(thing, *modules)
        parts: list[Part] = [partial(findings, one)]
    else:
        name = specs.canonical(kind, thing, *modules)
        if kind is FrequencyOracle and not isinstance(thing, FrequencyOracle):
            parts = [partial(_at, thing, modules, epsilon, d) for epsilon, d in SETTINGS]
        elif kind is Attack and not isinstance(thing, Attack):
            parts = [partial(findings, attack) for attack in _attacks(thing, modules)]
        else:
            parts = [partial(findings, specs.build(kind, thing, *modules))]
    shown.expect(len(parts))
    return name, parts


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


def named(names: Sequence[str], plugins: Sequence[Path]) -> list[str]:
    """What to verify: the names, or everything that the plug-ins define."""
    if names:
        return list(names)
    if not plugins:
        raise InvalidParameter("Say what to verify: a name, or a plug-in for all that is in it.")
    modules, found = load_plugins(plugins), list[type]()
    for kind in CHECKED:
        for module in modules:
            found += defined(module, kind)
    return list(map(name_of, found))


def rendered(verdicts: Sequence[Verdict], form: str) -> str:
    """Verdicts as ``"text"`` for people, or as ``"json"`` for programs."""
    if form == "json":
        return json.dumps([v.as_dict() for v in verdicts], indent=2, ensure_ascii=False)
    return "\n\n".join(map(str, verdicts))


def _at(
    thing: Any,
    modules: Sequence[ModuleType],
    epsilon: float,
    d: int,
    seed: int,
    draws: int,
    progress: Progress,
) -> Iterator[Finding]:
    """The findings at one setting; one that the oracle refuses with one line is none."""
    try:
        oracle = build_oracle(thing, *modules, epsilon=epsilon, d=d)
    except LDPError as refusal:
        name, where = "Parameters that it cannot serve are refused", f"epsilon={epsilon:g}, d={d}"
        yield Finding(name, True, str(refusal), setting=where)
        progress.tick(1)
        return
    yield from findings(oracle, seed, draws, progress)


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
