"""What people write to mean a thing: ``"olh"``, ``"olh(g=4)"``, a class, an object."""

import ast
import re
from dataclasses import Field, fields
from types import ModuleType
from typing import Any

from ldp3.errors import InvalidParameter, did_you_mean, short, site
from ldp3.kinds import called, find, look_up, name_of

LONGEST = 1_000  # characters of a spec: Python's parser may not survive very deep ones


def build(kind: type, spec: object, *plugins: ModuleType, **given: Any) -> Any:
    """Make the thing that `spec` means; an object is already made.

    `given` holds what the experiment decides (epsilon, d), a spec what the user tunes. Each kind
    has a function of its own that says what is given and what is made: `oracle`, `metric` …
    """
    if isinstance(spec, kind):
        return spec
    if isinstance(spec, type) and issubclass(spec, kind):
        return spec(**given)
    if not isinstance(spec, str):
        raise InvalidParameter(
            f"A {called(kind)} is a name, a class or an object, got {short(spec)}."
        )
    name, params = parse(spec)
    cls = look_up(kind, name, *plugins)
    _require_parameters(cls, params, given)
    fields_of = {symbol(cls, f.name): f.name for f in fields(cls)}
    return cls(**given, **{fields_of[name]: value for name, value in params.items()})


def canonical(kind: type, spec: object, *plugins: ModuleType) -> str:
    """One spelling per thing: ``"Subset( k = 3 )"``, or a class, or an object → ``"ss(k=3)"``.

    A parameter that has its default value is not written.
    """
    cls, params = class_of(kind, spec, *plugins), {}
    if isinstance(spec, str):
        params = parse(spec)[1]
    ours = find(kind).get(name_of(cls), cls)
    if ours is not cls:
        raise InvalidParameter(
            f"{site(cls)}: {name_of(cls)!r} is the name of a {called(kind)} of ours: rename "
            f"{cls.__name__}."
        )
    if isinstance(spec, kind):
        params = {symbol(cls, f.name): getattr(spec, f.name) for f in fields(cls)}
    own = {symbol(cls, f.name): f for f in fields(cls)}
    changed = {k: v for k, v in params.items() if k not in own or not _is_default(own[k], v)}
    inside = ", ".join(f"{key}={value!r}" for key, value in sorted(changed.items()))
    return f"{name_of(cls)}({inside})" if inside else name_of(cls)


def class_of(kind: type, spec: object, *plugins: ModuleType) -> Any:
    """The class of the thing that `spec` means."""
    if isinstance(spec, str):
        return look_up(kind, parse(spec)[0], *plugins)
    cls = spec if isinstance(spec, type) else type(spec)
    if not issubclass(cls, kind):
        raise InvalidParameter(f"A {called(kind)} is needed, by name or class, got {short(spec)}.")
    return cls


def parse(spec: str) -> tuple[str, dict[str, Any]]:
    """``"olh(g=4)"`` → ``("olh", {"g": 4})``; the name may hold hyphens and spaces."""
    if len(spec) > LONGEST:
        raise InvalidParameter(
            f"A spec has at most {LONGEST:,} characters, got {len(spec):,}: {short(spec, 60)}."
        )
    match = re.fullmatch(r"\s*([^()+]*[^()+\s])\s*(\(.*\))?\s*", spec, re.DOTALL)
    if match:
        name, inside = match[1], match[2] or "()"
        try:
            call = ast.parse(f"f{inside}", mode="eval").body
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
                params = {k.arg: _value(k.value) for k in call.keywords if k.arg}
                if len(params) == len(call.keywords):  # none twice, none by **
                    return name, params
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            pass
    raise InvalidParameter(
        f"A spec is a name, and parameters by their names: 'olh', 'olh(g=4)' or 'quantile(q=0.5)', "
        f"got {short(spec)}."
    )


def _value(node: ast.expr) -> Any:
    """A literal; a bare word is a text, for quotes inside quotes are a nuisance in a shell."""
    if isinstance(node, ast.List | ast.Tuple):
        inside = [_value(each) for each in node.elts]
        return inside if isinstance(node, ast.List) else tuple(inside)
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


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


def symbol(cls: type, name: str) -> str:
    """What specs call a field: its name, or the letter of the literature that its class says.

    >>> from ldp3.protocols.pgr import PGR
    >>> symbol(PGR, "order"), symbol(PGR, "d")
    ('q', 'd')
    """
    return str(getattr(cls, "symbols", {}).get(name, name))


def parameters(cls: type, *given: str) -> list[Field[Any]]:
    """The fields that a spec may set: those that are not `given` otherwise."""
    return [f for f in fields(cls) if f.init and f.name not in given]


def _require_parameters(cls: type, params: dict[str, Any], given: dict[str, Any]) -> None:
    allowed = [symbol(cls, f.name) for f in parameters(cls, *given)]
    for param in params:
        if param not in allowed:
            hint = (
                did_you_mean(param, allowed) or f" Its parameters: {', '.join(allowed) or 'none'}."
            )
            raise InvalidParameter(f"{cls.__name__} has no parameter {param!r}.{hint}")


def _is_default(field: Field[Any], value: object) -> bool:
    return type(value) is type(field.default) and value == field.default
