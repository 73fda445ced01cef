"""The kinds of things with names: protocols, methods, metrics, datasets.

Whatever can be named on the command line is a frozen dataclass. Its name is its class name in
snake_case, its parameters are its fields; what papers write instead is its `title`, other names are
its `aliases`. Nothing registers
itself: what counts is what the modules of a kind's folder define, what installed packages offer by
entry points, and what the caller hands in.
"""

import atexit
import gc
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ldp3.errors import InvalidParameter, UnknownName, did_you_mean, needing_full, short, site

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

_BASES = {
    "protocols": ("protocols", "FrequencyOracle"),
    "methods": ("postprocessing", "PostProcessor"),
    "metrics": ("metrics", "Metric"),
    "attacks": ("attacks", "Attack"),
    "datasets": ("datasets", "Source"),
}
_MORE = {"ldp3.schemes": "ldp3.protocols"}  # folders that hold more of the kind of another one


def every_kind() -> dict[str, type]:
    """Our kinds by what people call several of them."""
    return {
        several: getattr(import_module(f"ldp3.{folder}.base"), base)
        for several, (folder, base) in _BASES.items()
    }


def called(kind: type) -> str:
    """What people call one of a kind: FrequencyOracle → protocol."""
    return next(s.removesuffix("s") for s, (_, base) in _BASES.items() if base == kind.__name__)


def find(kind: type, *plugins: ModuleType) -> dict[str, type[Any]]:
    """Every concrete `kind` that our folder or the given plug-in modules define, by name."""
    found = dict(_ours(kind))
    for cls in (c for module in plugins for c in defined(module, kind)):
        spelt = _spellings(found)
        for spelling in spellings_of(cls):
            other = spelt.get(plain(spelling), cls)
            if other is not cls:
                raise InvalidParameter(
                    f"{site(cls)}: {spelling!r} is the name of another {called(kind)}, "
                    f"{other.__name__} in {site(other)}: rename {cls.__name__}."
                )
        found[name_of(cls)] = cls
    return found


@cache
def _ours(kind: type) -> dict[str, type[Any]]:
    home = _folder(kind)
    folders = [home, *(more for more, folder in _MORE.items() if folder == home)]
    modules = chain.from_iterable(map(_modules, folders))
    return {name_of(c): c for module in modules for c in defined(module, kind)}


def _modules(folder: str) -> Iterator[ModuleType]:
    inside = pkgutil.iter_modules(import_module(folder).__path__, folder + ".")
    return (import_module(module.name) for module in inside)


def exports(folder: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a kind's package: all of the kind that its modules define.

    They are imported when somebody asks, and a new one need not be listed.
    """

    @cache
    def every() -> dict[str, type]:
        home = _MORE.get(folder, folder)
        base = next(base for f, base in _BASES.values() if f"ldp3.{f}" == home)
        with needing_full(folder):
            kind = getattr(import_module(f"{home}.base"), base)
            found = [c for m in _modules(folder) for c in classes(m) if issubclass(c, kind)]
        return {c.__name__: c for c in found}

    def get(name: str) -> Any:
        if name[:1].isupper() and name in every():  # modules, in small letters, import themselves
            return every()[name]
        raise AttributeError(f"module {folder!r} has no attribute {name!r}")

    return get, lambda: sorted({*vars(import_module(folder)), *every()})


def look_up(kind: type, name: str, *plugins: ModuleType) -> type[Any]:
    """The class that `name` means, by its own name or an alias, however it is spelt."""
    found = find(kind, *plugins)
    cls = _spellings(found).get(plain(name)) or installed(kind, name)
    if cls is None:
        every = [*found, *installed_names(kind)]
        hint = did_you_mean(name.lower(), every) or f" Known: {', '.join(sorted(every))}."
        raise UnknownName(f"No {called(kind)} is called {short(name)}.{hint}")
    return cls


def known(kind: type, name: str, *plugins: ModuleType) -> bool:
    """Whether there is such a thing."""
    return plain(name) in _spellings(find(kind, *plugins)) or installed(kind, name) is not None


def installed(kind: type, name: str) -> type[Any] | None:
    """What an installed package offers under this name, by an entry point of the kind's group."""
    for point in _entry_points(kind):
        if plain(point.name) == plain(name):
            package = point.dist.name if point.dist else point.value
            atexit.unregister(gc.freeze)  # it may leave something to the collector's last search
            try:
                cls = point.load()
            except (Exception, SystemExit) as error:
                raise InvalidParameter(
                    f"{package}: {point.name!r} cannot be loaded from {point.value!r}: "
                    f"{type(error).__name__}: {error}. Mend or uninstall the package."
                ) from error
            sound = isinstance(cls, type) and issubclass(cls, kind) and not inspect.isabstract(cls)
            if not sound or plain(name_of(cls)) != plain(point.name):
                raise InvalidParameter(
                    f"{package}: the entry point {point.name!r} must name a {called(kind)} class "
                    f"of that name, got {point.value!r}."
                )
            return cls
    return None


def installed_names(kind: type) -> dict[str, str]:
    """What installed packages offer, name and package, without importing them."""
    return {p.name: p.dist.name if p.dist else p.value for p in _entry_points(kind)}


def defined(module: ModuleType, kind: type) -> list[type[Any]]:
    """Every concrete `kind` that a module itself defines."""
    return [c for c in classes(module) if issubclass(c, kind) and not inspect.isabstract(c)]


def classes(module: ModuleType) -> list[type[Any]]:
    """Every public class that a module itself defines."""
    members = inspect.getmembers(module, inspect.isclass)
    return [c for n, c in members if c.__module__ == module.__name__ and not n.startswith("_")]


def name_of(cls: type) -> str:
    """NormSub → norm_sub, GRR → grr, MLEApx → mle_apx."""
    return snake(cls.__name__)


def title_of(cls: type) -> str:
    """What people read: NormSub → Norm-Sub, where the class says so; else its name."""
    return vars(cls).get("title") or cls.__name__  # not that of what it derives from


def aliases_of(cls: type) -> Iterable[str]:
    """Other names in the literature."""
    return tuple(vars(cls).get("aliases", ()))


def spellings_of(cls: type) -> Iterable[str]:
    """All that people may type."""
    return name_of(cls), title_of(cls), *aliases_of(cls)


def plain(name: str) -> str:
    """Names match without regard to case, spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", name).lower()


def snake(name: str) -> str:
    """NormSub → norm_sub."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _spellings(found: dict[str, type]) -> dict[str, type]:
    return {plain(s): c for c in found.values() for s in spellings_of(c)}


def _entry_points(kind: type) -> "list[EntryPoint]":
    """Groups are called like our folders: ``ldp3.protocols``, ``ldp3.metrics`` …"""
    return [point for point in _every_entry_point(*sys.path) if point.group == _folder(kind)]


@cache
def _every_entry_point(*path: str) -> "list[EntryPoint]":  # noqa: ARG001
    """Those of our groups, once for each path: hundreds of packages are slow to read."""
    from importlib.metadata import distributions  # slow to import, and not every command asks

    packages = list(distributions())
    if not any(map(_offers, packages)):
        return []  # without a name for each of hundreds of packages, which is what is slow
    found: dict[str, list[EntryPoint]] = {}  # by package: the first on the path is the one in use
    for package in packages:
        with suppress(Exception):
            if package.name not in found:
                points = package.entry_points
                found[package.name] = [p for p in points if p.group.startswith("ldp3.")]
    return [point for points in found.values() for point in points]


def _offers(package: "Distribution") -> bool:
    with suppress(Exception):  # what is broken in another package is not ours to tell
        return "[ldp3." in (package.read_text("entry_points.txt") or "")
    return False


def _folder(kind: type) -> str:
    return kind.__module__.rpartition(".")[0]


def summary(cls: type) -> str:
    """The first line as plain text, up to a formula: those are for the documentation.

    >>> from ldp3.protocols.grr import GRR
    >>> summary(GRR)
    'Generalised randomised response, also called k-RR or direct encoding'
    """
    first = _doc(cls).partition("\n")[0]
    return re.sub(r"\$(\w+)\$", r"\1", first).partition("$")[0].rstrip(" :.,")


def reference(cls: type) -> str:
    """The *References* on one line, or nothing.

    >>> from ldp3.protocols.grr import GRR
    >>> reference(GRR)
    'Kairouz, Bonawitz, Ramage. *Discrete distribution estimation under local privacy.* ICML 2016.'
    """
    section = _doc(cls).partition("References\n----------\n")[2]
    return " ".join(section.partition("\n\n")[0].split())


def _doc(cls: type) -> str:
    return inspect.getdoc(cls) or ""
