"""What a method or a metric may remember from call to call: nothing that changes its results."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from types import ModuleType
from typing import Any

OURS = "ldp3."
PLAIN = bool, int, float, complex, str, bytes, type(None), tuple, list, dict, set


@contextmanager
def forgetting(thing: object) -> Iterator[None]:
    """Let everything that a plug-in has put aside meanwhile be forgotten afterwards.

    That is: attributes of the object and of its classes, and plain values in their modules.
    """
    classes = [c for c in type(thing).__mro__ if not c.__module__.startswith((OURS, "builtins"))]
    modules = [m for c in classes if isinstance(m := sys.modules.get(c.__module__), ModuleType)]
    holders: list[Any] = [*([thing] if hasattr(thing, "__dict__") else []), *classes, *modules]
    before = [_plain(vars(holder)) for holder in holders]
    yield
    for holder, kept in zip(holders, before, strict=True):
        _restore(holder, kept)


def _plain(names: Any) -> dict[str, Any]:
    return {k: deepcopy(v) for k, v in names.items() if _is_plain(k, v)}


def _is_plain(name: str, value: object) -> bool:
    return not name.startswith("__") and type(value) in PLAIN


def _restore(holder: Any, kept: dict[str, Any]) -> None:
    for name, value in list(vars(holder).items()):
        if name not in kept and _is_plain(name, value):
            _drop(holder, name)
    for name, value in kept.items():
        _put(holder, name, value)


def _drop(holder: Any, name: str) -> None:
    if isinstance(holder, type | ModuleType):
        delattr(holder, name)
    else:
        object.__delattr__(holder, name)  # frozen dataclasses too


def _put(holder: Any, name: str, value: object) -> None:
    if isinstance(holder, type | ModuleType):
        setattr(holder, name, value)
    else:
        object.__setattr__(holder, name, value)
