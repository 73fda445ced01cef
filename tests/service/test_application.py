"""What the collector answers, over a real socket."""

import base64
import json
import time
from pathlib import Path

import pytest

from ldp3.collection.aggregator import Aggregator
from ldp3.collection.databases import open_store
from ldp3.collection.estimate_table import CollectionEstimate
from ldp3.collection.plan import Plan
from ldp3.collection.reports import write_reports
from ldp3.collection.store import hour_now
from ldp3.domain import Integers, Records
from ldp3.service import application
from tests.service.postgres import Cluster, address, postgres  # noqa: F401 (fixtures)
from tests.service.running import PLAN, Collector, key, packed, reports, running

LINES = "application/x-ndjson"


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "collector.sqlite")


def lines(data: bytes, ids: list[str] | None = None) -> bytes:
    size = PLAN.report_bytes
    rows = [data[i : i + size] for i in range(0, len(data), size)]
    return b"".join(
        json.dumps(
            {"report": base64.b64encode(row).decode(), **({"id": ids[i]} if ids else {})}
        ).encode()
        + b"\n"
        for i, row in enumerate(rows)
    )


def counted(where: str, plan: Plan = PLAN) -> Aggregator:
    server = Aggregator(plan)
    server.add_store(where)
    return server


def test_what_is_acknowledged_is_counted_as_from_files(
    address: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    data = [reports(PLAN, 30, seed) for seed in range(6)]
    with running(address) as server:
        one = key()
        assert server.post(data[0], one).status == 202
        assert server.post(data[0], one).status == 200  # a repeat
        assert server.post(data[1][: PLAN.report_bytes]).status == 202  # a single report
        assert server.post(data[1][PLAN.report_bytes :]).status == 202
        assert server.post(packed(data[2]), Content_Encoding="gzip").status == 202
        assert server.post(lines(data[3]), Content_Type=LINES).status == 202
        named = lines(data[4], [f"name {i}" for i in range(30)])
        given = {"Content-Type": LINES}
        assert server.ask("POST", server.path("/reports"), named, given).status == 202
        assert server.ask("POST", server.path("/reports"), named, given).status == 200
        more = lines(data[4] + data[5], [f"name {i}" for i in range(60)])
        both = {**given, "Content-Encoding": "gzip"}
        assert server.ask("POST", server.path("/reports"), packed(more), both).status == 202
        live = json.loads(server.get("./estimate").body)
    path = tmp_path / "reports.bin"
    path.write_bytes(b"".join(data))
    files = Aggregator(PLAN)
    files.add_files([path])
    store = counted(address)
    assert store.n == files.n == live["n"] == 180
    assert store.total.tolist() == files.total.tolist()
    assert store.refused == {"duplicate": 90}
    expected = json.loads(CollectionEstimate.of(files).render("json"))
    assert live["values"] == expected["values"]


def test_what_perturb_writes_is_taken_as_it_is(file: str, tmp_path: Path) -> None:
    data = reports(PLAN, 20)
    rows = PLAN.wire.split(__import__("numpy").frombuffer(data, dtype="uint8"), {})
    path = tmp_path / "reports.jsonl"
    write_reports(path, "jsonl", [(rows, [f"{i:032x}" for i in range(20)])])
    with running(file) as server:
        answer = server.ask(
            "POST", server.path("/reports"), path.read_bytes(), {"Content-Type": LINES}
        )
        assert answer.status == 202
    assert counted(file).n == 20


BAD = {
    "nothing": (b"", {}, 422),
    "cut": (reports(PLAN, 2)[:-1], {}, 422),
    "another collection": (reports(Plan("other", 3, "oue", 1.0), 1), {}, 422),
    "one of another": (reports(PLAN, 1) + reports(Plan("other", 3, "oue", 1.0), 1), {}, 422),
    "no gzip": (reports(PLAN, 1), {"Content_Encoding": "gzip"}, 422),
    "cut gzip": (packed(reports(PLAN, 9))[:-4], {"Content_Encoding": "gzip"}, 422),
    "two gzips": (packed(reports(PLAN, 1)) * 2, {"Content_Encoding": "gzip"}, 422),
    "a bomb": (packed(bytes(2**27)), {"Content_Encoding": "gzip"}, 413),
    "brotli": (reports(PLAN, 1), {"Content_Encoding": "br"}, 415),
    "large": (reports(PLAN, 1) * 2**17, {}, 413),
    "no JSON": (b"{", {"Content_Type": LINES}, 422),
    "empty lines": (b"\n\n", {"Content_Type": LINES}, 422),
    "a short one": (b'{"report": "AAAA"}', {"Content_Type": LINES}, 422),
    "no UTF-8": (b'{"report": "\xff"}', {"Content_Type": LINES}, 422),
    "a bad id": (b'{"report": "AAAA", "id": "\\ud800"}', {"Content_Type": LINES}, 422),
    "one bad line": (lines(reports(PLAN, 3)) + b"{}\n", {"Content_Type": LINES}, 422),
}
KEYS = {
    "x": 400, "1-2": 400, "-" * 40: 400, f"{hour_now()}-{'g' * 32}": 400,
    f"{hour_now() - 200}-{'0' * 32}": 410, f"{hour_now() + 30}-{'0' * 32}": 410,
    f"{'9' * 5000}-{'0' * 32}": 400, f"0-{'0' * 32}": 410, f"{hour_now()}-{'0' * 33}": 400,
}  # fmt: skip


def test_refusals_are_one_line_and_take_nothing(file: str) -> None:
    with running(file) as server:
        for name, (body, headers, status) in BAD.items():
            answer = server.post(body, **headers)
            assert (name, answer.status) == (name, status)
            assert ("an id that is no JSON" in answer.body.decode()) or name != "a bad id"
            assert "\n" not in json.loads(answer.body)["error"]
            assert answer.headers["access-control-allow-origin"] == "*"
        for given, status in KEYS.items():
            assert server.post(reports(PLAN, 1), given).status == status
        path = server.path("/reports")
        assert server.ask("POST", path, reports(PLAN, 1)).status == 400  # no key at all
        assert server.ask("POST", "/collections/x/reports").status == 404
        assert server.ask("POST", "/collections//reports").status == 404
        assert server.ask("PUT", path).status == 405
        assert server.get("/nowhere").status == 404
        assert server.get("/health/").status == 404
    assert counted(file).n == 0
    assert sum(counted(file).refused.values()) > len(BAD)


def test_a_refused_request_does_not_use_up_its_name(file: str) -> None:
    name = key()
    with running(file) as server:
        assert server.post(reports(PLAN, 2)[:-1], name).status == 422
        assert server.post(reports(PLAN, 2), name).status == 202


def test_a_body_that_is_cut_short_is_not_taken(file: str) -> None:
    name, data = key(), reports(PLAN, 10)
    with running(file) as server:
        head = (
            f"POST {server.path('/reports')} HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {name}\r\n"
        ).encode()
        part = data[: 5 * PLAN.report_bytes]
        server.raw(head + b"Content-Length: %d\r\n\r\n" % len(data) + part)
        server.raw(head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(part) + part + b"\r\n")
        assert server.post(data, name).status == 202  # nothing of it was known
    assert counted(file).n == 10


def test_another_body_under_a_known_name_is_not_counted(file: str) -> None:
    name = key()
    with running(file) as server:
        assert server.post(reports(PLAN, 1), name).status == 202
        assert server.post(reports(PLAN, 7), name).status == 200
        assert server.post(reports(PLAN, 7)[:-1], name).status == 422
    assert counted(file).n == 1


def test_a_name_belongs_to_its_collection(file: str) -> None:
    other = Plan("other", 4, "grr", 1.0)
    name = key()
    with running(file, [PLAN, other]) as server:
        assert server.post(reports(PLAN, 1), name).status == 202
        second = Collector(server.port, other)
        assert second.post(reports(other, 2), name).status == 202
        assert json.loads(second.get("./plan", None).body) == other.describe()
    assert (counted(file).n, counted(file, other).n) == (1, 2)


def test_results_need_the_token_and_sending_does_not(file: str) -> None:
    with running(file) as server:
        assert server.get("./plan", None).status == 200
        assert server.get("./plan", None).headers["access-control-allow-origin"] == "*"
        assert server.get("./health", None).status == 200
        assert server.get("/health", None).status == 200
        assert server.get("./estimate").status == 404  # nothing is counted yet
        server.post(reports(PLAN, 100))
        for page in ("./estimate", "./metrics", "/metrics"):
            for token in (None, "", "wrong", "ä"):
                refused = server.get(page, token and token.encode().decode("latin-1"))
                assert refused.status == 401
                assert "access-control-allow-origin" not in refused.headers
            assert server.get(page).status == 200
            assert "access-control-allow-origin" not in server.get(page).headers
        text = server.get("./estimate?format=csv&method=none&confidence=0.9").body.decode()
        assert text.endswith("\n")  # as the file that `ldp3 estimate` writes
        assert text.startswith("label,frequency,low,high")
        assert server.get("./estimate?method=nonsense").status == 400
        assert server.get("./estimate?confidence=2").status == 400
        assert server.get("./estimate?confidence=x").status == 400
        assert server.get("./estimate?format=xml").status == 400
        tag = server.get("./estimate").headers["etag"]
        assert server.get("./estimate", If_None_Match=tag).status == 304
        server.post(reports(PLAN, 1))
        assert server.get("./estimate", If_None_Match=tag).status == 200
        assert f'ldp3_reports_total{{collection="{PLAN.identifier}"}} 101' in (
            server.get("/metrics").body.decode()
        )


def test_a_browser_may_send_from_any_page(file: str) -> None:
    with running(file) as server:
        answer = server.ask("OPTIONS", server.path("/reports"))
    assert answer.status == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "idempotency-key" in answer.headers["access-control-allow-headers"]
    assert answer.headers["access-control-max-age"] == "86400"


def test_a_closed_collection_takes_nothing_more(file: str) -> None:
    with running(file) as server:
        server.post(reports(PLAN, 3))
    store = open_store(file, write=True)
    store.close_collection(store.number_of(PLAN))
    store.close()
    with running(file) as server:
        assert server.post(reports(PLAN, 1)).status == 403
        assert json.loads(server.get("./estimate").body)["n"] == 3


def test_a_collection_that_is_closed_elsewhere_is_closed_at_once(
    postgres: Cluster,  # noqa: F811
) -> None:
    postgres.empty()
    with running(postgres.address) as server:
        assert server.post(reports(PLAN, 3)).status == 202
        with open_store(postgres.address, write=True) as store:
            store.close_collection(store.number_of(PLAN))
        assert server.post(reports(PLAN, 1)).status == 403
    assert counted(postgres.address).n == 3
    assert counted(postgres.address).refused == {"closed": 1}


def test_a_network_that_sends_too_often_waits(file: str) -> None:
    with running(file, rate=1.0, proxy="127.0.0.1") as server:

        def sent(host: str) -> list[int]:
            return [
                server.post(reports(PLAN, 1), X_Forwarded_For=f"evil, {host}").status
                for _ in range(12)
            ]

        start = time.monotonic()
        many = sent("192.0.2.1")
        assert many[:10] == [202] * 10
        assert many.count(429) >= 2 - int(time.monotonic() - start)
        assert sent("2001:db8::1")[0] == 202


def test_too_many_reports_on_their_way_are_asked_to_come_later(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "HELD", 1_000)
    with running(file) as server:
        answer = server.post(reports(PLAN, 120))
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        small = packed(reports(PLAN, 1) * 120)
        assert len(small) < 200
        assert server.post(small, Content_Encoding="gzip").status == 503  # by what it unpacks to
        assert server.post(reports(PLAN, 1)).status == 202  # what was held is free again


def test_a_database_that_is_away_is_said_to_be_and_comes_back(
    postgres: Cluster,  # noqa: F811
) -> None:
    postgres.empty()
    other = Plan("other", 4, "grr", 1.0)
    with running(postgres.address) as server, running(postgres.address, [other]) as second:
        assert server.post(reports(PLAN, 3)).status == 202
        assert second.post(reports(other, 4)).status == 202
        postgres.stop("fast")
        name = key()
        answer = server.post(reports(PLAN, 5), name)
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert server.get("/health").status == 503
        assert server.get("./estimate").status == 503
        postgres.start()
        end = time.monotonic() + 30
        while (status := server.post(reports(PLAN, 5), name).status) == 503:
            assert time.monotonic() < end
        assert status == 202
        while server.get("/health").status != 200 or second.get("/health").status != 200:
            assert time.monotonic() < end
            time.sleep(0.1)
        assert json.loads(server.get("./estimate").body)["n"] == 8
    assert (counted(postgres.address).n, counted(postgres.address, other).n) == (8, 4)


def test_the_page_asks_for_tables_by_number_whatever_attributes_are_called(file: str) -> None:
    parts = [Integers(d, name=name) for d, name in ((3, "1"), (4, "0"), (2, "0,1"))]
    plan = Plan("people", Records(parts), "pairs", 1.0)
    with running(file, [plan]) as server:
        assert server.post(reports(plan, 300)).status == 202
        for asked, values in (("0", 3), ("1", 4), ("0,1", 12), ("1,2", 8)):
            answer = json.loads(server.get(f"./estimate?table={asked}").body)
            assert len(answer["values"]) == values


def test_of_several_attributes_a_table_is_asked_for(file: str) -> None:
    parts = [Integers(d, name=name) for d, name in ((3, "sex"), (4, "age"), (2, "home, place"))]
    plan = Plan("people", Records(parts), "pairs", 1.0)
    with running(file, [plan]) as server:
        assert server.post(reports(plan, 3_000)).status == 202
        bad = reports(plan, 1)[:8] + b"\x09" + reports(plan, 1)[9:]  # of a group that is not there
        assert server.post(bad).status == 202  # as all that is well-formed; it is not counted
        first = json.loads(server.get("./estimate").body)
        assert [row["label"] for row in first["values"]] == ["0", "1", "2"]
        for asked in ("0,2", "sex,2"):
            answer = server.get(f"./estimate?table={asked}")
            assert (answer.status, len(json.loads(answer.body)["values"])) == (200, 6)
        for wrong in ("salary", "0,0", "0,1,2", "7", "%C2%B2", "9" * 5_000):
            answer = server.get(f"./estimate?table={wrong}")
            assert (answer.status, b"error" in answer.body) == (400, True)
        page = server.get(".", token=None).body.decode()
        assert '<option value="0,2">sex × home, place</option>' in page
        assert b"3,000 reports" in server.get("./live?table=0,1").body
    assert counted(file, plan).n == 3_000
    assert counted(file, plan).refused == {"impossible report": 1}
