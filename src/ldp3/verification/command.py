"""`ldp3 verify`: which things are meant, and what is said about them."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

from ldp3 import catalog
from ldp3.errors import InvalidParameter, LDPError, UnknownName, did_you_mean
from ldp3.metrics.base import Metric
from ldp3.postprocessing.base import PostProcessor
from ldp3.postprocessing.base import canonical as canonical_method
from ldp3.postprocessing.base import method as build_method
from ldp3.protocols.base import FrequencyOracle
from ldp3.verification.base import Finding, Verdict
from ldp3.verification.methods import method_findings
from ldp3.verification.metrics import metric_findings
from ldp3.verification.oracles import oracle_findings

# one value against one, all of a few, more than fit into a word, many
SETTINGS = [*((e, d) for e in (0.5, 2.0) for d in (2, 5, 70)), (1.0, 1000)]
KINDS: tuple[type, ...] = (FrequencyOracle, PostProcessor, Metric)


def verify(thing: Any, *, plugins: Sequence[str | Path] = (), seed: int = 0) -> Verdict:
    """Check a protocol, a method or a metric: its privacy, its statistics, its manners.

    Parameters
    ----------
    thing
        A spec such as ``"olh(g=4)"``, a class, or an object. An oracle is examined as it is; a
        spec or a class at small and large budgets and domains.
    plugins
        Files that define more of them.
    seed
        Where the randomness of the checks starts.

    Examples
    --------
    >>> verdict = verify("norm_sub")
    >>> verdict.passed, len(verdict.failures)
    (True, 0)
    """
    modules = [catalog.plugin(Path(path).resolve()) for path in plugins]
    name, findings = _plan(thing, modules, seed)
    return Verdict(name, tuple(findings))


def named(names: Sequence[str], plugins: Sequence[Path]) -> list[str]:
    """What to verify: the names, or everything that the plug-ins define."""
    if names:
        return list(names)
    if not plugins:
        raise InvalidParameter("Say what to verify: a NAME, or --plugin FILE for all in a file.")
    modules = [catalog.plugin(path.resolve()) for path in plugins]
    found: list[type] = []
    for kind in KINDS:
        for module in modules:
            found += catalog.defined(module, kind)
    return list(map(catalog.name_of, found))


def rendered(verdicts: Sequence[Verdict], form: str) -> str:
    """For people, or for programs."""
    if form == "json":
        return json.dumps([v.as_dict() for v in verdicts], indent=2, ensure_ascii=False)
    return "\n\n".join(map(str, verdicts))


def _plan(thing: Any, modules: Sequence[ModuleType], seed: int) -> tuple[str, Iterator[Finding]]:
    kind = _kind(thing, modules)
    if kind is PostProcessor:
        name = canonical_method(thing, *modules)
        return name, method_findings(build_method(thing, *modules), seed)
    name = catalog.canonical(kind, thing, *modules)
    if kind is Metric:
        made = thing if isinstance(thing, Metric) else catalog.build(kind, thing, *modules)
        return name, metric_findings(made, seed)
    if isinstance(thing, FrequencyOracle):
        return name, oracle_findings(thing, seed)
    return name, chain.from_iterable(_at(thing, modules, e, d, seed) for e, d in SETTINGS)


def _at(
    thing: Any, modules: Sequence[ModuleType], epsilon: float, d: int, seed: int
) -> Iterator[Finding]:
    """The findings at one setting; one that the oracle refuses with one line is none."""
    try:
        oracle = catalog.build(FrequencyOracle, thing, *modules, epsilon=epsilon, d=d)
    except LDPError as refusal:
        where = f"epsilon={epsilon:g}, d={d}"
        yield Finding(
            "Parameters that it cannot serve are refused", True, str(refusal), 0, 0.0, where
        )
        return
    yield from oracle_findings(oracle, seed)


def _kind(thing: Any, modules: Sequence[ModuleType]) -> type:
    """Whether it is an oracle, a method or a metric."""
    if not isinstance(thing, str):
        cls = thing if isinstance(thing, type) else type(thing)
        for kind in KINDS:
            if issubclass(cls, kind):
                return kind
        raise InvalidParameter(f"A protocol, method or metric is needed, got {thing!r}.")
    first = next(iter(catalog.split(thing, "+")), "")
    name, _ = catalog.parse(first)
    for kind in KINDS:
        if catalog.known(kind, name, *modules):
            return kind
    every = [n for kind in KINDS for n in catalog.find(kind, *modules)]
    hint = did_you_mean(name.lower(), every) or " See `ldp3 list`."
    raise UnknownName(f"No protocol, method or metric is called {name!r}.{hint}")
