"""Find things by name.

Whatever can be named on the command line is a frozen dataclass. Its name is its class name in
snake_case, its parameters are its fields, other spellings are in its `aliases`. Nothing registers
itself: what counts is what the modules of the folder define, plus what the caller hands in.
"""

import ast
import atexit
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterable
from dataclasses import fields
from hashlib import sha256
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import ModuleType
from typing import Any, TypeVar

from ldp3.errors import (
    PLUGIN,
    InvalidParameter,
    LDPError,
    UnknownName,
    blame,
    did_you_mean,
    site,
)

T = TypeVar("T")
# what people call our kinds
_CALLED = {"FrequencyOracle": "protocol", "PostProcessor": "method", "Source": "dataset"}


def find(kind: type[T], *plugins: ModuleType) -> dict[str, type[T]]:
    """Every concrete `kind` that our folder or the given plug-in modules define, by name."""
    package = import_module(_folder(kind))
    names = (m.name for m in pkgutil.iter_modules(package.__path__, package.__name__ + "."))
    found = {name_of(c): c for m in map(import_module, names) for c in defined(m, kind)}
    for cls in (c for module in plugins for c in defined(module, kind)):
        spelt = _spellings(found)
        for spelling in (name_of(cls), *aliases_of(cls)):
            other = spelt.get(plain(spelling), cls)
            if other is not cls:
                raise InvalidParameter(
                    f"{site(cls)}: {spelling!r} is the name of another {called(kind)}, "
                    f"{other.__name__} in {site(other)}: rename {cls.__name__}."
                )
        found[name_of(cls)] = cls
    return found


def plugin(path: Path, source: bytes | None = None) -> ModuleType:
    """The module in the file at `path`, loaded once, whatever the current folder is.

    `source` is what the file holds, for a machine that may see another one there, or none.
    """
    if source is None:
        if path.suffix != ".py" or not path.is_file():
            raise InvalidParameter(f"A plug-in is a Python file that exists, got {str(path)!r}.")
        source = path.read_bytes()
    name = f"{PLUGIN}{sha256(str(path).encode() + source).hexdigest()[:12]}_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    same = path.is_file() and path.read_bytes() == source
    spec = spec_from_file_location(name, path if same else _copy(path.name, source))
    assert spec is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        # not by the loader, which takes a file edited within a second for the old one
        exec(compile(source, str(spec.origin), "exec"), module.__dict__)
        _require_something(module, path)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, LDPError):
            raise
        line = error.lineno if isinstance(error, SyntaxError) else None
        said = f"{path.name}:{line}: {error.__class__.__name__}: {getattr(error, 'msg', error)}"
        said = said if line else blame(error) or f"{path.name}: {error!r}"
        raise InvalidParameter(f"{said}. Mend the plug-in.") from error
    return module


def _require_something(module: ModuleType, path: Path) -> None:
    """Refuse a plug-in that adds nothing, naming what its classes lack."""
    ours = [c for c in _classes(module) if any(_is_kind(base) for base in c.__mro__)]
    if ours and all(map(inspect.isabstract, ours)):
        lacks = ", ".join(sorted(getattr(ours[0], "__abstractmethods__", ())))
        raise InvalidParameter(
            f"{site(ours[0])}: {ours[0].__name__} lacks {lacks}: define what is missing."
        )
    if not ours:
        raise InvalidParameter(
            f"{path.name}:1: a plug-in defines a protocol, method, metric or dataset, and this one "
            f"none: derive a class from FrequencyOracle, PureOracle, PostProcessor, Metric or "
            f"Source."
        )


def installed(kind: type[T], name: str) -> type[T] | None:
    """What an installed package offers under this name, by an entry point of the kind's group."""
    for point in _entry_points(kind):
        if plain(point.name) == plain(name):
            package = point.dist.name if point.dist else point.value
            try:
                cls = point.load()
            except Exception as error:
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


def _copy(name: str, source: bytes) -> Path:
    """A file for as long as this process lives: Numba and tracebacks look for one."""
    folder = Path(mkdtemp(prefix="ldp3-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    path = folder / name
    path.write_bytes(source)
    return path


def build(kind: type[T], spec: str | type[T], *plugins: ModuleType, **given: Any) -> T:
    """Make the thing that `spec`, such as ``"olh(g=4)"`` or a class, names.

    `given` holds what the experiment decides (epsilon, d), `spec` what the user tunes.
    """
    if isinstance(spec, type):
        return spec(**given)
    name, params = parse(spec)
    cls = look_up(kind, name, *plugins)
    allowed = [f.name for f in fields(cls) if f.init and f.name not in given]  # type: ignore[arg-type]
    for param in params:
        if param not in allowed:
            hint = did_you_mean(param, allowed) or f" Its parameters: {allowed or 'none'}."
            raise InvalidParameter(f"{cls.__name__} has no parameter {param!r}.{hint}")
    return cls(**given, **params)


def canonical(kind: type, spec: object, *plugins: ModuleType) -> str:
    """One spelling per thing: ``"Subset( k = 3 )"``, or a class, or an object → ``"ss(k=3)"``."""
    params: dict[str, Any] = {}
    if isinstance(spec, str):
        name, params = parse(spec)
        cls: Any = look_up(kind, name, *plugins)
    else:
        cls = spec if isinstance(spec, type) else type(spec)
    if not issubclass(cls, kind):
        raise InvalidParameter(f"A {called(kind)} is needed, by name or class, got {spec!r}.")
    ours = find(kind).get(name_of(cls), cls)
    if ours is not cls:
        raise InvalidParameter(
            f"{site(cls)}: {name_of(cls)!r} is the name of a {called(kind)} of ours: rename "
            f"{cls.__name__}."
        )
    if isinstance(spec, kind):
        own = ((f, getattr(spec, f.name)) for f in fields(cls))
        params = {f.name: value for f, value in own if value != f.default}
    inside = ", ".join(f"{key}={value!r}" for key, value in sorted(params.items()))
    return f"{name_of(cls)}({inside})" if inside else name_of(cls)


def look_up(kind: type[T], name: str, *plugins: ModuleType) -> type[T]:
    """The class that `name` means, by its own name or an alias, however it is spelt."""
    found = find(kind, *plugins)
    cls = _spellings(found).get(plain(name)) or installed(kind, name)
    if cls is None:
        every = [*found, *installed_names(kind)]
        hint = did_you_mean(name.lower(), every) or f" Known: {', '.join(sorted(every))}."
        raise UnknownName(f"No {called(kind)} is called {name!r}.{hint}")
    return cls


def known(kind: type, name: str, *plugins: ModuleType) -> bool:
    """Whether there is such a thing."""
    return plain(name) in _spellings(find(kind, *plugins)) or installed(kind, name) is not None


def parse(spec: str) -> tuple[str, dict[str, Any]]:
    """``"olh(g=4)"`` → ``("olh", {"g": 4})``; the name may hold hyphens and spaces."""
    match = re.fullmatch(r"\s*([^()+]*[^()+\s])\s*(\(.*\))?\s*", spec, re.DOTALL)
    if match:
        name, inside = match[1], match[2] or "()"
        try:
            call = ast.parse(f"f{inside}", mode="eval").body
            if isinstance(call, ast.Call) and not call.args:
                return name, {str(k.arg): ast.literal_eval(k.value) for k in call.keywords if k.arg}
        except (SyntaxError, ValueError):
            pass
    raise InvalidParameter(f"A spec looks like 'olh' or 'olh(g=4)', got {spec!r}.")


def split(text: str, separator: str) -> list[str]:
    """Split outside parentheses: ``"olh(g=4),oue"`` → ``["olh(g=4)", "oue"]``."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def name_of(cls: type) -> str:
    """NormSub → norm_sub, GRR → grr, MLEApx → mle_apx."""
    return snake(cls.__name__)


def aliases_of(cls: type) -> Iterable[str]:
    """Other spellings of the name, as in the literature."""
    return tuple(vars(cls).get("aliases", ()))  # not those of what it derives from


def plain(name: str) -> str:
    """Names match without regard to case, spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", name).lower()


def called(kind: type) -> str:
    """What people call our kinds."""
    return _CALLED.get(kind.__name__, snake(kind.__name__).replace("_", " "))


def defined(module: ModuleType, kind: type[T]) -> list[type[T]]:
    """Every concrete `kind` that a module itself defines."""
    return [c for c in _classes(module) if issubclass(c, kind) and not inspect.isabstract(c)]


def _classes(module: ModuleType) -> list[type]:
    members = inspect.getmembers(module, inspect.isclass)
    return [c for n, c in members if c.__module__ == module.__name__ and not n.startswith("_")]


def _spellings(found: dict[str, type[T]]) -> dict[str, type[T]]:
    return {plain(s): c for own, c in found.items() for s in (own, *aliases_of(c))}


def _entry_points(kind: type) -> list[EntryPoint]:
    """Groups are called like our folders: ``ldp3.protocols``, ``ldp3.metrics`` …"""
    return list(entry_points(group=_folder(kind)))


def _folder(kind: type) -> str:
    return kind.__module__.rpartition(".")[0]


def _is_kind(cls: type) -> bool:
    return re.fullmatch(r"ldp3\.\w+\.base", cls.__module__) is not None


def snake(name: str) -> str:
    """NormSub → norm_sub."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
