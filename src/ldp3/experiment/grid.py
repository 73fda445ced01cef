"""What a run *is*: data, grid and seed, small enough to send to another machine."""

import inspect
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from importlib.metadata import version
from itertools import chain, count, product
from math import isfinite, prod
from pathlib import Path
from platform import python_version
from types import ModuleType
from typing import Any, Literal, get_args

from ldp3 import __version__, kinds, specs
from ldp3.attacks.base import Attack
from ldp3.attacks.targets import fake_numbers, fake_text, named_targets
from ldp3.errors import (
    InvalidParameter,
    as_path,
    as_python,
    one_of,
    require,
    require_possible,
    settle_numbers,
    several,
    short,
    whole,
)
from ldp3.files import real_path
from ldp3.metrics.base import Metric, build_metric
from ldp3.people import Dataset, Marginals, Table, one_attribute
from ldp3.plugins import load_plugins
from ldp3.postprocessing.base import PostProcessor, build_method, canonical_method
from ldp3.protocols.base import FrequencyOracle
from ldp3.results.axes import Cell

Way = Literal["exact", "users"]
Reference = Literal["truth", "raw"]
Keep = Literal["scores", "means", "estimates"]
Named = str | type | object  # a spec, a class, or a ready object

MOST_CELLS = 10**7  # what is to do is written down before it is done
PACKAGES = ("ldp3", "numpy", "numba", "scipy", "polars")
REPEATS = 10  # where nobody asks for a number


@dataclass(frozen=True)
class Choice:
    """What tables call a thing, and what makes it: the same spec, or what a caller handed in."""

    spec: str
    thing: Named
    asked: bool = True  # by its own name, not as one of a set: it must apply, or be refused

    @property
    def source(self) -> str | None:
        """SHA-256 of the code of something handed in: it must not change under a resumed run."""
        if isinstance(self.thing, str):
            return None
        cls = self.thing if isinstance(self.thing, type) else type(self.thing)
        try:
            code = inspect.getsource(cls)
        except (OSError, TypeError):  # typed at a prompt
            code = cls.__qualname__
        return sha256(code.encode()).hexdigest()


NOBODY = Choice("none", "none")  # attacks


@dataclass(frozen=True)
class Experiment:
    """Data, grid and seed. Two equal experiments give the same table.

    Not only on one machine: what a processor can do changes no bit. Another C library may change
    the last one of a logarithm.

    Parameters
    ----------
    datasets
        The users, without their order: histograms and what the values are called.
    epsilons, protocols, methods, metrics
        The grid, in the order of the tables.
    repeats, seed
        Independent collections per dataset, protocol and ε, and where their randomness starts.
    repeats_asked
        Whether somebody asked for this number of repeats, or it was chosen.
    simulate
        ``exact`` draws the tally from its law where the protocol knows it, ``users`` perturbs
        every user's value.
    reference
        What metrics compare with: the ``truth``, or the ``raw`` estimate.
    keep
        Besides the scores: the ``means`` of all frequencies over the repeats, or the ``estimates``
        of every repeat.
    plugins
        Files that define more protocols, methods and metrics.
    attacks, fake_users, targets
        What fake users do, first of all nothing; how many they are, below 1 as a share of all
        reports; and what they want to raise.
    limit
        Whether scores come with what the separable oracle scores; no other number depends on it.
    """

    datasets: tuple[Dataset, ...]
    epsilons: tuple[float, ...]
    protocols: tuple[Choice, ...]
    methods: tuple[Choice, ...]
    metrics: tuple[Choice, ...]
    repeats: int = REPEATS
    seed: int = 0
    simulate: Way = "exact"
    reference: Reference = "truth"
    keep: Keep = "means"
    plugins: tuple[Path, ...] = ()
    attacks: tuple[Choice, ...] = (NOBODY,)
    repeats_asked: bool = True
    fake_users: tuple[float, ...] = (0.0,)
    targets: tuple[str, ...] = ("top:10",)
    limit: bool = True

    def __post_init__(self) -> None:
        settle_numbers(self)
        _must(len(self.epsilons) > 0, "at least one `epsilons` is needed", self.epsilons)
        for e in self.epsilons:
            _must(isfinite(e) and e > 0, "`epsilons` must be numbers > 0", e)
            require_possible("benchmark", e)
        _must(whole(self.repeats, 1), "`repeats` must be at least 1", self.repeats)
        most = f"`repeats` must be so few that there are at most {MOST_CELLS:,} cells"
        _must(self.size <= MOST_CELLS, most, self.repeats)
        _must(whole(self.seed, 0), "`seed` must be at least 0", self.seed)
        way = one_of(self.simulate, get_args(Way))
        _must(way, "`simulate` is 'exact' or 'users'", self.simulate)
        known = one_of(self.reference, get_args(Reference))
        _must(known, "`reference` is 'truth' or 'raw'", self.reference)

    @property
    def size(self) -> int:
        """Collections to run."""
        grid = self.datasets, self.epsilons, self._attackers, self.protocols
        return prod(map(len, grid)) * self.repeats

    @property
    def cells(self) -> list[Cell]:
        """The first repeat of each cell, in the order of the tables."""
        grid = product(self.datasets, self.epsilons, self._attackers, self.protocols)
        return [
            Cell(
                dataset=data.name,
                epsilon=epsilon,
                attack=attack,
                fake_users=fake_users,
                protocol=protocol.spec,
            )
            for data, epsilon, (attack, fake_users), protocol in grid
        ]

    @property
    def _attackers(self) -> list[tuple[str, float]]:
        """What fake users do and how many they are; first nobody."""
        attacks = [choice.spec for choice in self.attacks[1:]]
        return [(NOBODY.spec, 0.0), *product(attacks, self.fake_users)]

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything that the numbers depend on, as JSON can hold it."""
        handed_in = (*self.protocols, *self.methods, *self.metrics, *self.attacks[1:])
        return {
            "data": [
                {
                    "name": data.name,
                    "digest": data.digest,
                    "n": data.n,
                    "d": data.d,
                    **({"ordered": True} if data.ordered else {}),
                }
                for data in self.datasets
            ],
            "epsilons": list(self.epsilons),
            "attacks": [c.spec for c in self.attacks],
            **({} if self.attacks == (NOBODY,) else self._told_of_attackers),
            "protocols": [c.spec for c in self.protocols],
            "methods": [c.spec for c in self.methods],
            "metrics": [c.spec for c in self.metrics],
            "repeats": self.repeats,
            "repeats_asked": self.repeats_asked,
            "seed": self.seed,
            "simulate": self.simulate,
            "reference": self.reference,
            "keep_estimates": self.keep == "estimates",
            "plugins": {
                **{p.name: sha256(p.read_bytes()).hexdigest() for p in self.plugins},
                **{c.spec: c.source for c in handed_in if c.source},
            },
            "versions": _versions(),
        }

    @property
    def _told_of_attackers(self) -> dict[str, list[str]]:
        return {"fake_users": list(map(fake_text, self.fake_users)), "targets": list(self.targets)}

    @cached_property
    def key(self) -> str:
        """A short name for the identity."""
        return sha256(json.dumps(self.identity, sort_keys=True).encode()).hexdigest()


def experiment(
    datasets: Sequence[Dataset | Table],
    epsilons: float | Iterable[float] = 1.0,
    protocols: Named | Sequence[Named] = "paper",
    methods: Named | Sequence[Named] = "paper",
    metrics: Named | Sequence[Named] = "l1",
    *,
    repeats: int | None = None,
    seed: int = 0,
    simulate: Way = "exact",
    reference: Reference = "truth",
    keep: Keep = "means",
    plugins: Iterable[str | Path] = (),
    attacks: Named | Sequence[Named] = "none",
    fake_users: float | str | Sequence[float | str] = 0,
    targets: str | Sequence[str] = "top:10",
) -> Experiment:
    """The experiment that people mean: names looked up, sets opened, doubles and nonsense out."""
    if all(isinstance(one, Table) for one in datasets):  # what is usual is another thing there
        protocols, methods = (
            "attributes" if given in ("paper", ["paper"]) else given
            for given in (protocols, methods)
        )
    paths = tuple(real_path(as_path(p, "a plug-in")) for p in several(plugins, "`plugins`"))
    modules = load_plugins(paths)
    compared = choices(Metric, metrics, modules)
    chosen = _made_for(compared, choices(PostProcessor, methods, modules), modules)
    none = choices(PostProcessor, "none", modules)
    return Experiment(
        datasets=_told_apart(_compared(datasets, attacks)),
        epsilons=_budgets(epsilons),
        protocols=choices(FrequencyOracle, protocols, modules),
        methods=none + tuple(c for c in chosen if c.spec != "none"),
        metrics=compared,
        repeats=REPEATS if repeats is None else repeats,
        repeats_asked=repeats is not None,
        seed=seed,
        simulate=simulate,
        reference=reference,
        keep=keep,
        plugins=paths,
        attacks=_attacks(attacks, modules),
        fake_users=fake_numbers(fake_users),
        targets=named_targets(targets),
    )


def _compared(datasets: Sequence[Dataset | Table], attacks: object) -> list[Dataset]:
    """The datasets; of a table its tables of one attribute, and those of two."""
    found: list[Dataset] = []
    for data in datasets:
        if isinstance(data, Table) and attacks == "none":
            found += [Marginals.of(data, way) for way in (1, 2)]
        else:
            found.append(one_attribute(data))
    return found


def _made_for(
    metrics: Sequence[Choice], methods: Sequence[Choice], modules: Sequence[ModuleType]
) -> list[Choice]:
    """Of a set, without methods that answer a point of a posterior that no metric wants."""
    wanted = {None, *(build_metric(c.thing, *modules).bayes for c in metrics)}
    return [c for c in methods if c.asked or build_method(c.thing, *modules).bayes in wanted]


def _attacks(given: Named | Sequence[Named], modules: Sequence[ModuleType]) -> tuple[Choice, ...]:
    """Nobody first, so that every attack is compared with the same collection without it."""
    things = given if isinstance(given, list | tuple) else [given]
    named = [thing for thing in things if thing != "none"]
    return (NOBODY, *choices(Attack, named, modules)) if named else (NOBODY,)


@cache
def _versions() -> dict[str, str]:
    there = {p: __version__ if p == "ldp3" else version(p) for p in PACKAGES}
    return {"python": python_version(), **there}


def _budgets(given: object) -> tuple[float, ...]:
    """One ε or several, each once."""
    one = isinstance(given, str | bytes) or not hasattr(given, "__iter__")
    some = [given] if one or getattr(given, "ndim", 1) == 0 else several(given, "`epsilons`")
    numbers: list[Any] = [as_python(e) for e in some]
    for e in numbers:
        number = isinstance(e, int | float) and not isinstance(e, bool)
        _must(number and not (whole(e) and e > 2**1000), "`epsilons` must be numbers > 0", e)
    return tuple(dict.fromkeys(map(float, numbers)))


def _must(holds: bool, what: str, got: object) -> None:
    if not holds:
        raise InvalidParameter(f"{what}, got {short(got)}.")


def _told_apart(datasets: Sequence[Dataset]) -> tuple[Dataset, ...]:
    """The datasets without their users' order; of equal names, the later ones get a number."""
    require(len(datasets) > 0, "benchmark", "at least one dataset is needed", "none")
    apart: dict[str, Dataset] = {}
    for data in datasets:
        numbered = (f"{data.name} ({again})" for again in count(2))
        name = next(name for name in chain([data.name], numbered) if name not in apart)
        apart[name] = replace(data, name=name, values=None)
    return tuple(apart.values())


def choices(
    kind: type, given: Named | Sequence[Named], modules: Sequence[ModuleType]
) -> tuple[Choice, ...]:
    """What `given` names, sets opened, each once."""
    things = given if isinstance(given, list | tuple) else [given]
    _must(len(things) > 0, f"at least one {kinds.called(kind)} must be named", things)
    chosen: dict[str, Choice] = {}
    for choice in (c for thing in things for c in _open(kind, thing, modules)):
        known = chosen.setdefault(choice.spec, choice)
        if known.thing != choice.thing:
            raise InvalidParameter(f"Two different things are called {choice.spec!r}: rename one.")
    return tuple(chosen.values())


def _open(kind: Any, thing: Named, modules: Sequence[ModuleType]) -> list[Choice]:
    if isinstance(thing, str) and (members := _set(kind, kinds.plain(thing))):
        return [Choice(spec, spec, asked=False) for spec in members]
    if isinstance(thing, FrequencyOracle):
        raise InvalidParameter(
            f"An experiment sets epsilon and d itself: give {type(thing).__name__} as a class or a "
            f"spec, not an object."
        )
    spec = _canonical(kind, thing, modules)
    return [Choice(spec, spec if isinstance(thing, str) else thing)]


def _set(kind: Any, name: str) -> list[str]:
    """The members of a set that people name as one; none if there is no such set.

    ``all`` leaves out what another one does better, ``literature`` does not.
    """
    if name in ("all", "literature"):
        found = kinds.find(kind).items()
        every = {s: cls for s, cls in found if not getattr(cls, "needs_records", False)}
        return [s for s, cls in every.items() if name != "all" or not getattr(cls, "instead", "")]
    return list(kind.sets.get(name, ()))


def _canonical(kind: type, thing: Named, modules: Sequence[ModuleType]) -> str:
    if kind is PostProcessor:  # may be a chain
        return canonical_method(thing, *modules)
    return specs.canonical(kind, thing, *modules)
