"""One typed way into Numba: arrays in, arrays out, no interpreter lock, cached on disk under seal.

A kernel stands at the end of the file that needs it. Numba itself is imported when the first
kernel runs, because importing it takes longer than printing a help page.

What Numba might have to refuse, it compiles with the words of the refusal: an array on the right of
``a[i:j] = …``, or ``sum(axis=…)``, takes two seconds the first time. Kernels use loops for both.

Numba trusts its files of compiled kernels: an empty one ends every program that needs the kernel,
and a flipped bit in machine code does anything at all. Ours have a seal: what is damaged is
compiled again.
"""

import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, update_wrapper
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, cast

from ldp3.errors import LDPError

P = ParamSpec("P")
R = TypeVar("R")

SEAL = 16  # bytes at the end of what Numba writes, where its own reader does not look
CACHED = r"_([0-9a-f]{12})-\d+\..+\.nb[ic]$"  # a file's name, with the state of our sources


class Kernel(Generic[P, R]):
    """A function that compiles itself when first called; kernels may call each other."""

    def __init__(self, function: Callable[P, R]) -> None:
        self.function = function
        self.module: str | None = None
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Callable[P, R]:
        """Numba's dispatcher for the function."""
        numba = _numba()
        if self.module is not None:
            return cast(Callable[P, R], getattr(import_module(self.module), self.function.__name__))
        # Numba notices a change of the kernel's own file, not of a kernel that it calls
        folder = Path(self.function.__code__.co_filename).parent
        self.function.__qualname__ += f"_{_state_of_sources(folder)}"
        try:
            compiled = numba.njit(nogil=True, cache=True)(self.function)
        except RuntimeError:  # no folder to cache in: compile for this process only
            return cast(Callable[P, R], numba.njit(nogil=True)(self.function))
        seal_cache(compiled)
        return cast(Callable[P, R], compiled)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.compiled(*args, **kwargs)


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile with Numba: no bounds checks, so validate what goes in."""
    return Kernel(function)


def compiled_in(module: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The kernel of the same name in `module`, for one that cannot be written without Numba."""

    def stand_in(function: Callable[P, R]) -> Callable[P, R]:
        kernel = Kernel(function)
        kernel.module = module
        return kernel

    return stand_in


@contextmanager
def on_compile(say: Callable[[], None]) -> Iterator[None]:
    """Inside, call `say` once, when a kernel is not in the cache and must be compiled."""
    _numba()
    from numba.core import event

    class Once(event.Listener):  # type: ignore[misc]
        said = False

        def on_start(self, event: Any) -> None:  # noqa: ARG002
            if not self.said:
                self.said = True
                say()

        def on_end(self, event: Any) -> None:
            """Numba asks for it."""

    with event.install_listener("numba:compile", Once()):
        yield


@cache
def _state_of_sources(folder: Path) -> str:
    """Of this folder and the kernel's own: kernels call no others."""
    files = sorted({*Path(__file__).parent.glob("*.py"), *folder.glob("*.py")})
    state = [(f.name, f.stat().st_mtime_ns, f.stat().st_size) for f in files]
    return blake2b(repr(state).encode(), digest_size=6).hexdigest()


def _numba() -> Any:
    try:
        import numba
    except ModuleNotFoundError:
        raise LDPError(
            "Many reports at a time need numba: pip install 'ldp3[full]'. A client that makes one "
            "report does not."
        ) from None
    from numba.core import types
    from numba.extending import typeof_impl

    if Kernel not in typeof_impl.registry:
        # inside another kernel, a kernel is what Numba calls a dispatcher

        @typeof_impl.register(Kernel)  # type: ignore[untyped-decorator]
        def typeof_kernel(kernel: Kernel[..., Any], context: object) -> Any:  # noqa: ARG001
            return types.Dispatcher(kernel.compiled)

        # a cache that cannot be written costs a compilation, nothing else
        warnings.filterwarnings("ignore", category=numba.NumbaWarning, message=".*cache.*")
    return numba


@cache
def cache_file() -> Any:
    """Numba's class for the files of one kernel, with a seal."""
    from numba.core.caching import IndexDataCacheFile

    class CacheFile(IndexDataCacheFile):  # type: ignore[misc]
        """The files of one kernel."""

        def _dump(self, obj: Any) -> bytes:
            data = super()._dump(obj)
            return data + _seal(data)

        def _load_index(self) -> dict[Any, Any]:
            with suppress(Exception):  # whatever damaged bytes make of Python
                with Path(self._index_path).open("rb") as file:
                    pickle.load(file)  # Numba's version, in front of the sealed part
                    _require_seal(file.read())
                return super()._load_index()
            return {}

        def _load_data(self, name: str) -> Any:
            _require_seal(Path(self._data_path(name)).read_bytes())
            return super()._load_data(name)

        def _save_index(self, overloads: dict[Any, Any]) -> None:
            super()._save_index(overloads)
            self._remove_outdated()

        def _remove_outdated(self) -> None:
            """Remove what stands beside it of kernels compiled from other sources of ours."""
            state = re.search(CACHED, self._index_name)
            for path in Path(self._cache_path).iterdir():
                found = re.search(CACHED, path.name)
                if state and found and found[1] != state[1]:
                    with suppress(OSError):  # somebody else was faster
                        path.unlink()

    return CacheFile


def seal_cache(dispatcher: Any) -> None:
    """Let a kernel keep its files under seal."""
    known = dispatcher._cache
    plain = known._cache_file
    base = plain._index_name.removesuffix(".nbi")
    known._cache_file = cache_file()(plain._cache_path, base, plain._source_stamp)


def _seal(data: bytes) -> bytes:
    return blake2b(data, digest_size=SEAL).digest()


def _require_seal(content: bytes) -> None:
    """Say, as Numba understands it, that there is no such file."""
    if _seal(content[:-SEAL]) != content[-SEAL:]:
        raise FileNotFoundError("damaged")
