"""`ldp3 serve`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ldp3.budget import said_of
from ldp3.cli import flags
from ldp3.cli.aggregate import require_once
from ldp3.cli.console import Console, as_flags
from ldp3.errors import InvalidData, InvalidParameter, LDPError, require
from ldp3.files import for_owner
from ldp3.printing import plural, show

if TYPE_CHECKING:
    from ldp3.collection.plan import Plan

TOKEN = "LDP3_TOKEN"  # the name of a variable of the environment
SHORTEST_TOKEN = 16  # characters
NO_TOKEN = f"nobody can read results: give --token-file, or {TOKEN}."


def serve(
    plans: Annotated[list[Path], Parameter(name="PLAN...", negative=())],
    /,
    *,
    database: str = "collector.sqlite",
    host: str = "127.0.0.1",
    port: Annotated[int, flags.WHOLE] = 8080,
    token_file: Path | None = None,
    keep_reports: bool = False,
    rate: float = 50.0,
    trusted_proxy: str | None = None,
    check: bool = False,
    close: bool = False,
    delete_reports: bool = False,
    plugins: flags.Plugins = [],  # noqa: B006
    quiet: flags.Quiet = False,
) -> int:
    """Collect reports over HTTP, and show the estimate as they come in.

    A report is acknowledged when it is safe in the database, and counts once however often it is
    sent. Stop with Ctrl-C or SIGTERM; what is under way is finished first.

    Parameters
    ----------
    plans
        The plans of the collections, as `ldp3 plan` wrote them.
    database
        A file, for SQLite and one process; postgresql://… for any number of processes.
    host
        The address to listen on; this machine alone by default.
    port
        The port to listen on.
    token_file
        A file with the token for reading results, made if it is not there; else the variable
        LDP3_TOKEN. Without a token nobody can read results over HTTP.
    keep_reports
        Keep reports after they are counted: results can be inspected closer, and more can leak.
    rate
        Requests a second that one network may send, ten times as many at once; 0 for any number.
        Requests from this machine are not limited.
    trusted_proxy
        The address of a proxy that says in X-Forwarded-For for whom it asks.
    check
        Say what is wrong with all this, and start nothing.
    close
        Close the collections: no more reports are taken. Start nothing.
    delete_reports
        Delete the reports that were kept; their counts stay. Start nothing.
    """
    require_once(plans)
    require(0 <= port < 2**16, "--port", "must be at most 65535", port)
    require(0 <= rate < 1e9, "--rate", "must be at least 0", rate)
    _require_installed()
    if check:
        return _check(
            plans, plugins, database, host, port, token_file, trusted_proxy, keep=keep_reports
        )
    _require_database(database)
    proxy = _proxy(trusted_proxy)
    collections = _loaded(plans, plugins)
    if close or delete_reports:
        _end(collections, database, close=close, delete=delete_reports)
        return 0
    from ldp3.service.server import Server, application, listen

    console = Console(quiet=quiet)
    token = _token(token_file)
    with listen(host, port) as listening:
        app = application(
            collections, database, keep=keep_reports, token=token, rate=rate, proxy=proxy
        )
        where = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        for plan in collections:
            console.notes(said_of(plan.epsilon))
            console.note(f"{plan.name!r} is at {where}/collections/{plan.identifier}")
        if token is None:
            console.note(NO_TOKEN)
        Server(app).run(sockets=[listening])
    return 0


def _require_installed() -> None:
    try:
        import httptools  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise LDPError(f"{error.name} is not installed: pip install 'ldp3[serve]'.") from None


def _require_database(given: str) -> None:
    """Refuse a word such as `postgres`, which would become a file of SQLite."""
    from ldp3.collection.databases import is_postgres

    is_word = not Path(given).suffix and Path(given).name == given
    if is_word and not is_postgres(given) and not Path(given).exists():
        what = "must be a file such as collector.sqlite, or postgresql://…"
        require(False, "--database", what, given)


def _proxy(given: str | None) -> str | None:
    """The address of a proxy as connections have it."""
    if given is None:
        return None
    try:
        return str(ip_address(given))
    except ValueError:
        raise InvalidParameter(f"--trusted-proxy: must be an IP address, got {given!r}.") from None


def _loaded(plans: list[Path], plugins: list[Path]) -> "list[Plan]":
    from ldp3.collection.plan import Plan

    loaded = [Plan.load(plan, plugins) for plan in plans]
    for plan in loaded:
        plan.require_unnamed("this server gives every report an identifier")
    _require_different(loaded)
    return loaded


def _require_different(loaded: "list[Plan]") -> None:
    if len({plan.identifier for plan in loaded}) < len(loaded):
        raise InvalidData("the same plan is given twice.")


def _token(path: Path | None) -> str | None:
    """What readers must know, from a file or the environment; never from the command line."""
    found = os.environ.get(TOKEN)
    if path is not None:
        try:
            if not path.exists():
                with open(path, "x", encoding="utf-8", newline="\n", opener=for_owner) as file:
                    file.write(token_hex(16) + "\n")
            found = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise InvalidData(f"{path}: cannot be read or written, or is no text.") from None
    if found is not None and len(found) < SHORTEST_TOKEN:
        raise InvalidData(f"a token has at least {SHORTEST_TOKEN} characters, this one is shorter.")
    return found


def _end(plans: "list[Plan]", database: str, *, close: bool, delete: bool) -> None:
    """Close collections, or delete their reports."""
    from ldp3.collection.databases import open_store

    with open_store(database) as store:  # which must be there
        numbers = {store.number_of(plan): plan.name for plan in plans}
    with open_store(database, write=True) as store:
        for number, name in numbers.items():
            if close:
                store.close_collection(number)
                show(f"{name!r} is closed.")
            if delete:
                while store.count():
                    pass
                gone = store.delete_reports(number)
                show(f"{plural(gone, 'report')} of {name!r} deleted; the counts stay.")


def _check(
    plans: list[Path], plugins: list[Path], database: str, host: str, port: int,
    token: Path | None, proxy: str | None, *, keep: bool,
) -> int:  # fmt: skip
    """Say what is wrong, all of it; the exit code."""
    from ldp3.service.server import listen

    wrong, notes, loaded = list[str](), list[str](), list["Plan"]()

    @contextmanager
    def noted() -> Iterator[None]:
        try:
            yield
        except LDPError as error:
            wrong.append(as_flags(str(error)))

    for path in plans:
        with noted():
            loaded += _loaded([path], plugins)
    with noted():
        _require_different(loaded)
    with noted():
        _require_database(database)
        _look_into(database, loaded, wrong, notes, keep=keep)
    with noted():
        listen(host, port).close()
    with noted():
        _proxy(proxy)
    with noted():
        if token is not None and not token.exists():
            notes.append(f"{token} is not there yet, and will be made.")
        elif _token(token) is None:
            wrong.append(NO_TOKEN)
        elif token is not None and os.name == "posix" and token.stat().st_mode & 0o077:
            wrong.append(f"{token}: others can read it: chmod 600.")
    for line in (*wrong, *notes, *([] if wrong else ["Nothing is wrong."])):
        show(line)
    return 1 if wrong else 0


def _look_into(
    database: str, plans: "list[Plan]", wrong: list[str], notes: list[str], *, keep: bool
) -> None:
    from ldp3.collection.databases import is_postgres, only_writer, open_store

    if not is_postgres(database):
        folder = Path(database).absolute().parent
        if not folder.is_dir():
            raise InvalidData(f"{database}: there is no folder {folder}.")
        if not os.access(folder, os.W_OK):
            raise InvalidData(f"{database}: we may not write to the folder {folder}.")
        if not Path(database).exists():
            notes.append(f"{database} is not there yet, and will be made.")
            return
        only_writer(Path(database)).close()
    with open_store(database) as store:
        known = store.collections()
        for plan in plans:
            store.require_as_it_began(plan, keep=keep)
    wrong += [f"{plan.name!r} is closed." for plan in plans if known.get(plan.identifier)]
    if others := len(known.keys() - {plan.identifier for plan in plans}):
        notes.append(f"{plural(others, 'collection')} in it that no plan here is for.")
