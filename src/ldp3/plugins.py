"""Plug-ins: Python files that define more protocols, methods, metrics, attacks or datasets."""

import atexit
import gc
import inspect
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import ModuleType

from ldp3.errors import InvalidParameter, LDPError, as_path, several, site
from ldp3.files import real_path
from ldp3.kinds import classes

PREFIX = "ldp3_plugin_"  # what the module of a plug-in file is called, and then its name
_loaded: list[ModuleType] = []


def plugin(path: Path, source: bytes | None = None) -> ModuleType:
    """The module in the file at `path`, loaded once, whatever the current folder is.

    `source` is what the file holds, for a machine that may see another one there, or none.
    """
    if source is None:
        if path.suffix != ".py" or not path.is_file():
            raise InvalidParameter(f"A plug-in is a Python file that exists, got {str(path)!r}.")
        source = path.read_bytes()
    name = f"{PREFIX}{sha256(str(path).encode() + source).hexdigest()[:12]}_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    atexit.unregister(gc.freeze)  # it may leave something to the collector's last search
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
    _loaded.append(module)
    return module


def load_plugins(paths: Iterable[str | Path]) -> list[ModuleType]:
    """The modules in these files."""
    files = several(paths, "`plugins`")
    return [plugin(real_path(as_path(path, "a plug-in"))) for path in files]


def loaded() -> list[ModuleType]:
    """Every plug-in file that this process has loaded, the newest first."""
    return _loaded[::-1]


def blame(error: BaseException) -> str | None:
    """``"mine.py:12: ZeroDivisionError: …"`` if a plug-in was at work when it happened."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if frame.f_globals.get("__name__", "").startswith(PREFIX):
            where = f"{Path(frame.f_code.co_filename).name}:{line}"
            return f"{where}: {type(error).__name__}: {' '.join(str(error).split())}"
    return None


@contextmanager
def blaming() -> Iterator[None]:
    """Let a failure inside a plug-in be a person's mistake, which names file and line."""
    try:
        yield
    except LDPError:
        raise
    except Exception as error:
        said = blame(error)
        if said is None:
            raise
        raise LDPError(f"{said}. Mend the plug-in.") from error


def _require_something(module: ModuleType, path: Path) -> None:
    """Refuse a plug-in that adds nothing, naming what its classes lack."""
    ours = [c for c in classes(module) if any(map(_is_kind, c.__mro__))]
    if ours and all(map(inspect.isabstract, ours)):
        lacks = ", ".join(sorted(getattr(ours[0], "__abstractmethods__", ())))
        raise InvalidParameter(
            f"{site(ours[0])}: {ours[0].__name__} lacks {lacks}: define what is missing."
        )
    if not ours:
        raise InvalidParameter(
            f"{path.name}:1: a plug-in defines a protocol, method, metric, attack or dataset, and "
            f"this one none: derive a class from FrequencyOracle, PureOracle, PostProcessor, "
            f"Metric, Attack or Source."
        )


def _is_kind(cls: type) -> bool:
    return re.fullmatch(r"ldp3\.\w+\.base", cls.__module__) is not None


def _copy(name: str, source: bytes) -> Path:
    """A file for as long as this process lives: Numba and tracebacks look for one."""
    folder = Path(mkdtemp(prefix="ldp3-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    path = folder / name
    path.write_bytes(source)
    return path
