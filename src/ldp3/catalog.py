"""Find things by name.

Whatever can be named on the command line is a frozen dataclass. Its name is its class name in
snake_case, its parameters are its fields, other spellings are in its `aliases`. Nothing registers
itself: what counts is what the modules of the folder define, plus what the caller hands in.
"""

import ast
import inspect
import pkgutil
import re
import sys
import traceback
from collections.abc import Iterable
from dataclasses import fields
from hashlib import sha256
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from ldp3.errors import InvalidParameter, UnknownName, did_you_mean

T = TypeVar("T")
# what people call our kinds
_CALLED = {"FrequencyOracle": "protocol", "PostProcessor": "method", "Source": "dataset"}


def find(kind: type[T], *plugins: ModuleType) -> dict[str, type[T]]:
    """Every concrete `kind` that our folder or the given plug-in modules define, by name."""
    package = import_module(kind.__module__.rpartition(".")[0])
    names = (m.name for m in pkgutil.iter_modules(package.__path__, package.__name__ + "."))
    modules = [*map(import_module, names), *plugins]
    return {name_of(c): c for m in modules for c in _defined(m, kind)}


def plugin(path: Path) -> ModuleType:
    """The module in the file at `path`, loaded once, whatever the current folder is."""
    name = f"ldp3_plugin_{sha256(str(path).encode()).hexdigest()[:12]}_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path) if path.suffix == ".py" else None
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidParameter(f"A plug-in is a Python file that exists, got {str(path)!r}.")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        frames = traceback.extract_tb(error.__traceback__)
        line = getattr(error, "lineno", None) or frames[-1].lineno
        where = f"{path.name}:{line}"
        raise InvalidParameter(
            f"{where}: {type(error).__name__}: {error}. Mend the plug-in."
        ) from error
    return module


def build(kind: type[T], spec: str | type[T], *plugins: ModuleType, **given: Any) -> T:
    """Make the thing that `spec`, such as ``"olh(g=4)"`` or a class, names.

    `given` holds what the experiment decides (epsilon, d), `spec` what the user tunes.
    """
    if isinstance(spec, type):
        return spec(**given)
    name, params = parse(spec)
    cls = look_up(name, find(kind, *plugins), kind.__name__)
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
        cls: Any = look_up(name, find(kind, *plugins), kind.__name__)
    else:
        cls = spec if isinstance(spec, type) else type(spec)
    if not issubclass(cls, kind):
        what = _CALLED.get(kind.__name__, _snake(kind.__name__))
        raise InvalidParameter(f"A {what} is needed, by name or class, got {spec!r}.")
    if isinstance(spec, kind):
        own = ((f, getattr(spec, f.name)) for f in fields(cls))
        params = {f.name: value for f, value in own if value != f.default}
    inside = ", ".join(f"{key}={value!r}" for key, value in sorted(params.items()))
    return f"{name_of(cls)}({inside})" if inside else name_of(cls)


def look_up(name: str, known: dict[str, type[T]], kind: str) -> type[T]:
    """The class that `name` means, by its own name or an alias, however it is spelt."""
    spellings = {plain(s): c for own, c in known.items() for s in (own, *aliases_of(c))}
    if plain(name) not in spellings:
        what = _CALLED.get(kind, _snake(kind).replace("_", " "))
        hint = did_you_mean(name.lower(), known) or f" Known: {', '.join(sorted(known))}."
        raise UnknownName(f"No {what} is called {name!r}.{hint}")
    return spellings[plain(name)]


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
    return _snake(cls.__name__)


def aliases_of(cls: type) -> Iterable[str]:
    """Other spellings of the name, as in the literature."""
    return tuple(getattr(cls, "aliases", ()))


def plain(name: str) -> str:
    """Names match without regard to case, spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", name).lower()


def _defined(module: ModuleType, kind: type[T]) -> list[type[T]]:
    members = inspect.getmembers(module, inspect.isclass)
    own = (c for n, c in members if c.__module__ == module.__name__ and not n.startswith("_"))
    return [c for c in own if issubclass(c, kind) and not inspect.isabstract(c)]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
