"""The collector as a process: put together, started, stopped."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from ldp3.collection.plan import Plan
from ldp3.errors import InvalidParameter, require
from ldp3.service.application import Application
from ldp3.service.ingest import Ingest
from ldp3.service.pages import Pages, http_error
from ldp3.service.visitors import Guarded, RateLimit

MOST_CONNECTIONS = 4096
GRACE = 10  # seconds for requests that are under way when the server is told to stop


def application(
    plans: Sequence[Plan],
    database: str,
    *,
    keep: bool = False,
    token: str | None = None,
    rate: float = 0.0,
    proxy: str | None = None,
) -> Application:
    """The collector, for an ASGI server, with the options of `ldp3 serve`.

    The store is opened now, and closed when the server stops.
    """
    ingest = Ingest(database, plans, keep=keep)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        ingest.start(asyncio.get_running_loop())
        yield
        # first: SQLite's last connection moves its log into the file
        await asyncio.to_thread(pages.readings.close)
        await asyncio.to_thread(ingest.stop)

    pages = Pages(plans, database, ingest, token)
    others = Starlette(
        routes=pages.routes(), lifespan=running, exception_handlers={HTTPException: http_error}
    )
    others.router.redirect_slashes = False  # an address has one spelling
    return Application(ingest, plans, RateLimit(rate), proxy, others)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, or one line that says why not."""
    require(bool(host), "--host", "must be an address, such as 127.0.0.1", host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or error
        raise InvalidParameter(f"{host}, port {port}: cannot listen there: {reason}.") from None


def _allow_files(count: int) -> None:
    """Ask for as many open files, where the system counts connections among them."""
    with suppress(ImportError, ValueError, OSError):
        from resource import RLIMIT_NOFILE, getrlimit, setrlimit

        soft, hard = getrlimit(RLIMIT_NOFILE)
        setrlimit(RLIMIT_NOFILE, (max(soft, min(count, hard)), hard))


class Server(uvicorn.Server):
    """Answers until it is told to stop; what is under way is finished first.

    Requests that take too long are ended.
    """

    def __init__(self, app: Application) -> None:
        # uvicorn's own lines, one for each request, would hold addresses
        logging.getLogger("uvicorn").setLevel(logging.ERROR)
        _allow_files(2 * MOST_CONNECTIONS)
        config = uvicorn.Config(
            app, http=Guarded, lifespan="on", ws="none", log_config=None, access_log=False,
            proxy_headers=False, server_header=False, timeout_keep_alive=30,
            limit_concurrency=MOST_CONNECTIONS, timeout_graceful_shutdown=GRACE,
        )  # fmt: skip
        super().__init__(config)

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:  # once a second: cheaper than a timer for each request
            for connection in list(self.server_state.connections):
                if isinstance(connection, Guarded):
                    connection.abort_if_late()
        return await super().on_tick(counter)
