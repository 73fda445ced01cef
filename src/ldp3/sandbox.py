"""Read a file that nobody vouches for in a process of its own, with bounded memory and time.

A damaged Parquet file, a workbook with one far cell or a packed file of nothing but zeros can make
its decoder panic, hang, ask for any amount of memory, or end the process. So a *reader*, another
process of ours, decodes it: whatever happens there, here it is an error that can be caught. What
comes back is JSON and plain bytes, never objects. Readers wait for more work for a while, and end
when nobody can ask them any more.
"""

import atexit
import errno
import io
import json
import mmap
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import accumulate, pairwise
from math import inf
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, NoReturn

from ldp3.errors import InvalidData, LDPError, system_error

if TYPE_CHECKING:
    import polars as pl

IDLE = 30  # seconds that a reader waits for more work
LONGEST = 3_600  # seconds after which a reader that has not answered is taken to hang
TOO_MUCH = 77  # exit code of a reader that needed more memory than it may
SHARED = 2**26  # bytes that a reader shares with us, for what it decodes
SHARES = os.name == "posix"  # Windows hands no open file on: there all goes through the pipe
CRASHES = ("SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL")
START = (
    "import sys; sys.path[:] = {path!r}; from ldp3.sandbox import _serve; _serve({shared}, {owner})"
)
Reply = tuple[Any, Sequence[Any]]  # something for JSON, and buffers


class Unreadable(InvalidData):
    """A file whose content cannot be decoded, or only with more memory or time than is allowed."""


@contextmanager
def in_reader(
    function: Callable[..., Reply],
    *args: Any,
    memory: int,
    seconds: float = LONGEST,
    threads: int | None = None,
) -> Iterator[tuple[Any, list[memoryview]]]:
    """What a function of ours answers in a reader that may use `memory` bytes for it (on Linux).

    It may take so many `seconds`. Polars works there with so many `threads`, with all cores if not
    given. The buffers are there until the block ends. `Unreadable` is raised for what the decoder
    says against the content, also if it dies of it; what the operating system says is an `OSError`,
    as it would be here.
    """
    called = function.__module__, function.__name__, args, os.getcwd()  # noqa: PTH109
    task = pickle.dumps((*called, memory))
    while True:
        waiting = _idle_reader(threads)
        reader = waiting or _Reader(threads)
        try:
            said, buffers = reader.ask(task, seconds)
            break
        except _Gone:  # it had waited too long, and left at this very moment
            if waiting is None:
                raise LDPError(
                    f"No process to read files can be had of {sys.executable}."
                ) from None
    try:
        yield _value(said), buffers
    finally:
        for buffer in buffers:
            buffer.release()
        _idle[threads].append(reader)


def decoding_error(error: BaseException) -> str | None:
    """What a decoder says against its input; None if the error is about something else.

    Panics of Rust are no `Exception`. I/O errors that are not the operating system's, such as an
    early end, are about the content too, and so are impossible sizes.
    """
    kind = type(error)
    rust = kind.__module__.startswith("polars") or kind.__name__ == "PanicException"
    number = system_error(error)
    if number not in (None, 0, errno.EINVAL, errno.ENOMEM, errno.EOVERFLOW):
        return None
    if number is None and not rust and not isinstance(error, MemoryError):
        return None
    return (str(error).strip().splitlines() or [kind.__name__])[0]


def heed_ctrl_c() -> None:
    """Let Ctrl-C end a wait: Polars, when it is imported, has the system go on with waits."""
    if hasattr(signal, "siginterrupt") and callable(signal.getsignal(signal.SIGINT)):
        signal.siginterrupt(signal.SIGINT, True)


class _Gone(Exception):
    """The reader had ended before it was asked."""


class _Reader:
    """A process that decodes."""

    def __init__(self, threads: int | None) -> None:
        self.owner = os.getpid()
        self.late = False
        few = {} if threads is None else {"POLARS_MAX_THREADS": str(threads)}
        with _shared_file() as file:
            number = None if file is None else file.fileno()
            self.shared = b"" if number is None else mmap.mmap(number, SHARED)
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    START.format(path=sys.path, shared=number, owner=self.owner),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=[] if number is None else [number],
                env={**os.environ, **few},
                start_new_session=True,  # Ctrl-C is for us; we tell the reader
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # so on Windows
            )

    def ask(self, task: bytes, seconds: float) -> tuple[dict[str, Any], list[memoryview]]:
        """Send a task and wait for what comes of it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        heed_ctrl_c()
        clock = threading.Timer(seconds, self._stop)
        clock.daemon = True
        clock.start()
        try:
            with suppress(BrokenPipeError):
                self.process.stdin.write(len(task).to_bytes(8, "little") + task)
                self.process.stdin.flush()
            head = self.process.stdout.readline()
            if not head.endswith(b"\n"):
                self._explain_death()
            said = json.loads(head)
            if said["shared"]:
                return said, _pieces(memoryview(self.shared), said["sizes"])
            return said, [self._received(size) for size in said["sizes"]]
        except BaseException:
            self.end()
            raise
        finally:
            clock.cancel()

    def _stop(self) -> None:
        self.late = True
        self.process.kill()

    def _received(self, size: int) -> memoryview:
        content = bytearray(size)
        if self.process.stdout.readinto(content) != size:  # type: ignore[union-attr]
            self._explain_death()
        return memoryview(content)

    def _explain_death(self) -> NoReturn:
        code = self.process.wait()
        if self.late:
            raise Unreadable("reading it takes longer than is allowed")
        if code == 0:
            raise _Gone
        if code == TOO_MUCH:
            raise Unreadable("more memory is needed to read it than is allowed")
        if _crashed(code):
            raise Unreadable("it is so damaged that the reader died of it")
        raise LDPError(f"The process that reads files ended with code {code}: is there memory?")

    def end(self) -> None:
        """Stop it, if it is ours to stop and not a copy in a forked process."""
        if self.owner == os.getpid():
            self.process.kill()
            for pipe in (self.process.stdin, self.process.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]
            self.process.wait()


_idle: dict[int | None, list[_Reader]] = defaultdict(list)  # by their number of threads


def _idle_reader(threads: int | None) -> _Reader | None:
    while _idle[threads]:
        with suppress(IndexError):  # another thread was faster
            reader = _idle[threads].pop()
            if reader.owner == os.getpid() and reader.process.poll() is None:
                return reader
            reader.end()
    return None


@atexit.register
def end_readers() -> None:
    """Stop the readers that wait."""
    for readers in _idle.values():
        while readers:
            readers.pop().end()


def _crashed(code: int) -> bool:
    """Whether a process died of what it did; Windows has large codes instead of signals."""
    return code >= 0xC0000000 or -code in {getattr(signal, name, None) for name in CRASHES}


@contextmanager
def _shared_file() -> Iterator[IO[bytes] | None]:
    """A file of `SHARED` bytes without a name, in memory where that can be."""
    if not SHARES:
        yield None
        return
    memory = getattr(os, "memfd_create", None)  # only Linux has it
    with TemporaryFile() if memory is None else os.fdopen(memory("ldp3"), "w+b") as file:
        file.truncate(SHARED)
        yield file


def _pieces(shared: memoryview, sizes: Sequence[int]) -> list[memoryview]:
    ends = list(accumulate(sizes, initial=0))
    return [shared[start:stop] for start, stop in pairwise(ends)]


def _value(said: dict[str, Any]) -> Any:
    if said["error"] == "content":
        raise Unreadable(said["value"])
    if said["error"] == "system":
        number, path = said["value"]
        raise OSError(number, os.strerror(number), path)
    if said["error"] == "mistake":
        raise InvalidData(said["value"])
    if said["error"]:
        raise RuntimeError(said["value"])
    return said["value"]


class _Bounds:
    """What ends a reader: so many bytes of memory, and a time until which nobody asks it."""

    def __init__(self) -> None:
        self.memory: float = inf
        self.until = time.monotonic() + IDLE


def _serve(file: int | None, owner: int) -> None:
    """The reader's own side: work until nobody asks any more."""
    tasks, answers, bounds = sys.stdin.buffer, os.dup(1), _Bounds()
    shared = None if file is None else mmap.mmap(file, SHARED)
    os.dup2(2, 1)  # what anybody prints must not get between the answers
    threading.Thread(target=_watch, args=(bounds, owner), daemon=True).start()
    while len(size := tasks.read(8)) == 8:
        bounds.until = inf
        *call, bounds.memory = pickle.loads(tasks.read(int.from_bytes(size, "little")))
        _send(answers, shared, *_answer(*call))
        bounds.until = time.monotonic() + IDLE


def _answer(module: str, name: str, args: Any, folder: str) -> tuple[str, Any, Sequence[Any]]:
    try:
        os.chdir(folder)
        return "", *getattr(import_module(module), name)(*args)
    except LDPError as error:
        return "content" if isinstance(error, Unreadable) else "mistake", str(error), ()
    except BaseException as error:
        if (reason := decoding_error(error)) is not None:
            return "content", reason, ()
        if (number := system_error(error)) is not None:
            return "system", (number, getattr(error, "filename", None)), ()
        return "bug", repr(error), ()


def _send(
    pipe: int, shared: mmap.mmap | None, error: str, value: Any, buffers: Sequence[Any]
) -> None:
    """The head through the pipe, the buffers in the shared file where they fit."""
    views = [memoryview(b).cast("B") if memoryview(b).nbytes else memoryview(b"") for b in buffers]
    sizes = [len(view) for view in views]
    fits = shared is not None and sum(sizes) <= SHARED
    head = {"error": error, "value": value, "sizes": sizes, "shared": fits}
    if shared is not None and fits:
        for place, view in zip(_pieces(memoryview(shared), sizes), views, strict=True):
            place[:] = view
    text = memoryview(json.dumps(head).encode() + b"\n")
    for view in (text,) if fits else (text, *views):
        while len(view):
            view = view[os.write(pipe, view) :]


def _watch(bounds: _Bounds, owner: int) -> None:
    """End the reader when it holds more memory than it may: a decoder cannot be asked to stop.

    It ends with its owner, too, whatever it is doing: what a killed process asked, nobody hears. A
    limit of the system's would let allocations fail, and then threads wait for each other for
    ever. A task that arrives at the very moment when nobody is waited for any more is asked again.
    """
    while time.monotonic() < bounds.until:
        time.sleep(0.02)
        if _own_bytes() > bounds.memory:
            os._exit(TOO_MUCH)
        if os.name == "posix" and os.getppid() != owner:
            break
    os._exit(0)


def _own_bytes() -> int:
    """Memory that this process holds for itself, where Linux tells."""
    with suppress(OSError), open("/proc/self/statm", "rb") as file:  # noqa: PTH123
        _, resident, shared, *_ = map(int, file.read().split())
        return (resident - shared) * mmap.PAGESIZE
    return 0


# tables


def collect(query: "pl.LazyFrame") -> "pl.DataFrame":
    """What a query finds; its files are decoded in a process of its own, in batches."""
    return decoded(_collected, query.serialize())


def schema(query: "pl.LazyFrame") -> "pl.Schema":
    """Names and types of the columns that a query finds."""
    return decoded(_typed, query.serialize()).schema


def decoded(function: "Callable[..., pl.DataFrame]", *args: Any) -> "pl.DataFrame":
    """The table that a function of ours makes in a reader, from half of the memory at most."""
    import polars as pl

    called = function.__module__, function.__name__, args
    with in_reader(_streamed, *called, memory=_half_the_memory()) as (_, (found,)):
        return pl.read_ipc_stream(io.BytesIO(found))


def _streamed(module: str, name: str, args: Sequence[Any]) -> Reply:
    made = getattr(import_module(module), name)(*args)
    return None, [made.write_ipc_stream(None).getbuffer()]


def _collected(query: bytes) -> "pl.DataFrame":
    import polars as pl

    return pl.LazyFrame.deserialize(io.BytesIO(query)).collect(engine="streaming")


def _typed(query: bytes) -> "pl.DataFrame":
    import polars as pl

    return pl.LazyFrame.deserialize(io.BytesIO(query)).collect_schema().to_frame()


def _half_the_memory() -> int:
    """Half of what this machine has, where it tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 2**33
