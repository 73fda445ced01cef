"""What the collector answers to those who read: the plan for everybody, results with a token."""

import hmac
import json
import time
from asyncio import CancelledError
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from threading import Lock
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ldp3.collection.aggregator import Aggregator
from ldp3.collection.databases import open_store
from ldp3.collection.estimate_table import CollectionEstimate
from ldp3.collection.plan import Plan
from ldp3.collection.store import COUNTED, Store, StoreError, hour_now
from ldp3.domain import Records
from ldp3.errors import LDPError
from ldp3.kinds import find
from ldp3.postprocessing.base import PostProcessor, build_method
from ldp3.reporting.estimate_page import estimate_context
from ldp3.reporting.html import render, script
from ldp3.results import names
from ldp3.schemes.attributes import RecordScheme
from ldp3.service.ingest import LATER, STOPPING, Ingest
from ldp3.threats.detection import inspect_tally

T = TypeVar("T")
ANYBODY = {"Access-Control-Allow-Origin": "*"}
PREFLIGHT = {
    **ANYBODY,
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": "content-type, content-encoding, idempotency-key",
    "Access-Control-Max-Age": "86400",
}
PRIVATE = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "frame-ancestors 'none'",
}
HOURS, SHOWN = 48, 1_000  # hours and values that the page shows, at most
REMEMBERED = 32  # estimates
LONGEST_WAIT = 10.0  # seconds for others to be done with reading
ESTIMATES = {"json": "application/json", "csv": "text/csv; charset=utf-8"}


@dataclass
class Readings:
    """What is read from the store, through one connection that only reads."""

    address: str
    _store: Store | None = None
    _lock: Lock = field(default_factory=Lock)
    _making: Lock = field(default_factory=Lock)
    _known: dict[tuple[object, ...], tuple[str, Any, float]] = field(default_factory=dict)

    def read(self, plan: Plan, reading: Callable[[Store, int], T]) -> T:
        """What a function finds in the store."""
        with self._locked(LONGEST_WAIT):
            try:
                self._store = self._store or open_store(self.address)
                return reading(self._store, self._store.number_of(plan))
            except StoreError:
                if self._store is not None:
                    self._store.close()
                self._store = None  # another connection may do better
                raise

    def close(self) -> None:
        """Close the connection, unless the database hangs."""
        with suppress(StoreError), self._locked(LONGEST_WAIT / 5):
            if self._store is not None:
                self._store.close()

    @contextmanager
    def _locked(self, seconds: float) -> Iterator[None]:
        if not self._lock.acquire(timeout=seconds):
            raise StoreError("the database does not answer.")
        try:
            yield
        finally:
            self._lock.release()

    def once(
        self, tag: str, key: tuple[object, ...], make: Callable[[], T], *, patient: bool
    ) -> tuple[str, T]:
        """What `make` makes for a tag, the mark of what the store holds; and for which tag it was.

        It is made once for a tag; for the patient, who ask again and again, what took long is good
        for ten times as long.
        """
        with self._making:  # who asks for the same waits for it
            known, start = self._known.get(key), time.monotonic()
            if known is not None and (known[0] == tag or (patient and start < known[2])):
                return known[0], known[1]
            made = make()
            self._known.pop(key, None)
            self._known[key] = tag, made, start + 11 * (time.monotonic() - start)
            while len(self._known) > REMEMBERED:
                self._known.pop(next(iter(self._known)))
            return tag, made


def tag_of(arrivals: Mapping[tuple[int, str], int]) -> str:
    """A mark that changes when something arrives."""
    return sha256(repr(sorted(arrivals.items())).encode()).hexdigest()[:32]


class Pages:
    """Everything that is read over HTTP; results by whoever knows the token."""

    def __init__(
        self, plans: Iterable[Plan], address: str, ingest: Ingest, token: str | None
    ) -> None:
        self._plans = {plan.identifier: plan for plan in plans}
        self.readings, self._ingest = Readings(address), ingest
        self._token = None if token is None else sha256(token.encode()).digest()

    def routes(self) -> list[Route]:
        """Where what is found."""
        one = "/collections/{identifier}"
        return [
            Route(f"{one}/reports", _preflight, methods=["OPTIONS"]),
            Route(f"{one}/plan", self._answers(self.plan)),
            Route(one, self._answers(self.page)),
            Route(f"{one}/estimate", self._answers(self.estimate, token=True)),
            Route(f"{one}/live", self._answers(self.live, token=True)),
            *(Route(f"{at}/metrics", self._answers(self.metrics, token=True)) for at in ("", one)),
            *(Route(f"{at}/health", self.health) for at in ("", one)),
        ]

    def _answers(
        self, page: Callable[[Request], Response], *, token: bool = False
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            if token:
                self._require_token(request)
            try:
                return await run_in_threadpool(page, request)
            except CancelledError:
                return _error(LATER, STOPPING)
            except StoreError as error:
                return _error(LATER, str(error))
            except LDPError as error:
                return _error(400, str(error))

        return answer

    def _require_token(self, request: Request) -> None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        digest = sha256(given.strip().encode()).digest()
        known = self._token is not None and hmac.compare_digest(digest, self._token)
        if scheme.lower() != "bearer" or not known:
            raise HTTPException(
                401, "a token is needed: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"}
            )

    def _plan(self, request: Request) -> Plan:
        found = self._plans.get(request.path_params["identifier"])
        if found is None:
            raise HTTPException(404, "there is no such collection here")
        return found

    def plan(self, request: Request) -> Response:
        """The plan, for every client."""
        text = json.dumps(self._plan(request).describe(), indent=2, ensure_ascii=False)
        headers = {**ANYBODY, "Cache-Control": "max-age=300"}
        return Response(text + "\n", media_type="application/json", headers=headers)

    def estimate(self, request: Request) -> Response:
        """The estimate, as `ldp3 estimate` writes it."""
        plan, given = self._plan(request), request.query_params
        kind = given.get("format", "json")
        if kind not in ESTIMATES:
            return _error(400, "format is json or csv")
        now = tag_of(self.readings.read(plan, Store.arrivals))
        tag, found = self._estimated(plan, now, given, patient=False)
        if found is None:
            return _error(404, "no report was counted yet")
        return _unless_known(
            request, tag, lambda: Response(found[1].render(kind) + "\n", media_type=ESTIMATES[kind])
        )

    def _estimated(
        self, plan: Plan, tag: str, given: Mapping[str, str], *, patient: bool
    ) -> tuple[str, tuple[Aggregator, CollectionEstimate] | None]:
        method = given.get("method") or None
        try:
            confidence = float(given.get("confidence", "0.95"))
        except ValueError:
            raise LDPError("confidence is a number between 0 and 1") from None
        together = given.get("simultaneous", "false") == "true"
        table = _table(plan, given.get("table"))

        def make() -> tuple[Aggregator, CollectionEstimate] | None:
            server = Aggregator.of_counts(plan, self.readings.read(plan, Store.counts))
            if not server.n:
                return None
            return server, CollectionEstimate.of(server, method, confidence, together, table)

        key = (plan, method, confidence, together, table)
        return self.readings.once(tag, key, make, patient=patient)

    async def health(self, request: Request) -> Response:
        """Whether reports can be taken; it waits for no thread, as all of them may hang."""
        if "identifier" in request.path_params:
            self._plan(request)
        trouble = self._ingest.trouble
        said = {"ok": False, "error": trouble} if trouble else {"ok": True}
        return JSONResponse(said, 503 if trouble else 200, PRIVATE)

    def metrics(self, request: Request) -> Response:
        """For Prometheus."""
        one = "identifier" in request.path_params
        plans = [self._plan(request)] if one else list(self._plans.values())
        lines = [
            "# TYPE ldp3_reports_total counter",
            "# TYPE ldp3_refused_total counter",
        ]
        for plan in plans:
            sums = {COUNTED: 0, **_by_reason(self.readings.read(plan, Store.arrivals))}
            where = f'collection="{plan.identifier}"'
            for reason, n in sorted(sums.items()):
                kind = f'ldp3_refused_total{{{where},reason="{reason}"}}'
                lines.append(f"{kind if reason else f'ldp3_reports_total{{{where}}}'} {n}")
        ingest = self._ingest
        for name, kind, value in (
            ("commits_total", "counter", ingest.commits),
            ("failed_commits_total", "counter", ingest.failures),
            ("committed_reports_total", "counter", ingest.committed),
            ("waiting_requests", "gauge", ingest.waiting),
            ("uncounted_reports", "gauge", self.readings.read(plans[0], lambda s, _: s.waiting())),
        ):
            lines += [f"# TYPE ldp3_{name} {kind}", f"ldp3_{name} {value}"]
        return PlainTextResponse("\n".join(lines) + "\n", headers=PRIVATE)

    def page(self, request: Request) -> Response:
        """The page that shows results to whoever has the token; it holds none itself."""
        plan = self._plan(request)
        found = find(PostProcessor, *plan.modules)
        methods = {spec: names.method(spec) for spec in (plan.method, "none", *sorted(found))}
        context = {
            "name": plan.name,
            "facts": " · ".join(plan.facts),
            "methods": {m: title for m, title in methods.items() if _suits(plan, m)},
            "method": plan.method,
            "ordered": plan.domain.ordered,
            "tables": _tables(plan),
        }
        return HTMLResponse(render("live.html", context, [script("live.js")]), headers=PRIVATE)

    def live(self, request: Request) -> Response:
        """What the page shows."""
        plan, given = self._plan(request), request.query_params
        arrivals = self.readings.read(plan, Store.arrivals)
        tag, found = self._estimated(plan, tag_of(arrivals), given, patient=True)
        order = given.get("order")
        ordered = plan.domain.ordered if order is None else order == "domain"

        def make() -> Response:
            context: dict[str, Any] = {"rows": [], "facts": "No report was counted yet."}
            if found is not None:
                server, estimate = found
                inspection = inspect_tally(plan, server.tally)
                said = [] if inspection is None else inspection.answer().render("text").splitlines()
                context = estimate_context(estimate, ordered, SHOWN) | {"findings": said}
                if (d := len(estimate.table)) > SHOWN:
                    context["remarks"] = [f"These are {SHOWN:,} of {d:,} values; save all."]
            context = {"findings": [], "sorts": False} | context | arrived(arrivals, hour_now())
            return HTMLResponse(render("live_results.html", context))

        return _unless_known(request, tag, make)


def arrived(arrivals: Mapping[tuple[int, str], int], now: int) -> dict[str, Any]:
    """Bars of the last hours, and what was refused, for the page."""
    hours = {hour: arrivals.get((hour, COUNTED), 0) for hour in range(now - HOURS + 1, now + 1)}
    most = max(max(hours.values()), 1)
    refused = [(r, f"{n:,}") for r, n in sorted(_by_reason(arrivals).items()) if r != COUNTED]
    bars = [
        {
            "height": f"{100 * n / most:.1f}%",
            "title": f"{datetime.fromtimestamp(3600 * hour, UTC):%d %b %H:00} UTC: {n:,}",
        }
        for hour, n in hours.items()
    ]
    total = sum(hours.values())
    last = f"In the last {HOURS} hours {total:,} reports came, {hours[now]:,} in this one."
    return {"hours": bars, "last": last, "refused": refused}


def _by_reason(arrivals: Mapping[tuple[int, str], int]) -> Counter[str]:
    """How many rows came in all hours: counted, or refused for which reason."""
    sums = Counter[str]()
    for (_, reason), n in arrivals.items():
        sums[reason] += n
    return sums


def _tables(plan: Plan) -> dict[str, str]:
    """The tables that can be looked at, where there are several attributes: numbers, and names."""
    oracle, called = plan.oracle, [attribute.name for attribute in plan.attributes]
    if not isinstance(oracle, RecordScheme):
        return {}
    return {",".join(map(str, own)): " × ".join(called[a] for a in own) for own in oracle.wanted}


def _table(plan: Plan, given: str | None) -> tuple[str, ...]:
    """The attributes of a table, by their numbers, as the page asks, or names; the first, else."""
    if not isinstance(plan.domain, Records):
        return ()
    called = plan.domain.names
    numbered = {str(number): name for number, name in enumerate(called)}
    parts = [part.strip() for part in (given or "0").split(",")]
    if given in called and not set(parts) <= set(numbered):  # a name may hold commas
        return (str(given),)
    return tuple(plan.domain.part(numbered.get(part, part)).name for part in parts)


def _suits(plan: Plan, method: str) -> bool:
    try:
        return plan.domain.suits(build_method(method, *plan.modules))
    except LDPError:  # one with parameters that must be given
        return False


def _unless_known(request: Request, tag: str, make: Callable[[], Response]) -> Response:
    """Nothing, if who asks has what there is."""
    tag = f'"{tag}"'
    known = request.headers.get("if-none-match") == tag
    answer = Response(status_code=304) if known else make()
    answer.headers.update({**PRIVATE, "ETag": tag})
    return answer


def _error(status: int, text: str) -> Response:
    return JSONResponse({"error": " ".join(text.split())}, status, PRIVATE)


async def http_error(_: Request, error: Exception) -> Response:
    """What Starlette refuses, in the words of all other refusals."""
    assert isinstance(error, HTTPException)
    answer = _error(error.status_code, error.detail)
    answer.headers.update(error.headers or {})
    return answer


async def _preflight(_: Request) -> Response:
    return Response(status_code=204, headers=PREFLIGHT)
