"""One typed way into Numba: arrays in, arrays out, no interpreter lock, cached on disk.

A kernel stands at the end of the file that needs it. Numba itself is imported when the first
kernel runs, because importing it takes longer than printing a help page.

What Numba might have to refuse, it compiles with the words of the refusal: an array on the right of
``a[i:j] = …``, or ``sum(axis=…)``, takes two seconds the first time. Kernels use loops for both.
"""

import warnings
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, cast

from ldp3.errors import LDPError

P = ParamSpec("P")
R = TypeVar("R")


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
        self.function.__qualname__ += f"_{_state_of_sources()}"
        from ldp3.kernels.caching import seal_cache

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


def on_compile(say: Callable[[], None]) -> None:
    """Call `say` once, when a kernel is not in the cache and must be compiled."""
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

    event.register("numba:compile", Once())


@cache
def _state_of_sources() -> str:
    files = sorted(Path(__file__).parents[1].rglob("*.py"))
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
