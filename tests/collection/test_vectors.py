"""The published vectors: what the generator writes, a client sends, and the specification says."""

import json
import re
import subprocess
import sys
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldp3.collection import vectors
from ldp3.collection.client import Client, report_from_words
from ldp3.collection.plan import Plan, deployable
from ldp3.domain import Records
from ldp3.errors import InvalidValue
from ldp3.randomness import Words
from tests.collection import suited

DOCS = Path(__file__).parents[2] / "docs"
FILE = DOCS / "wire-format-vectors.json"
PUBLISHED = json.loads(FILE.read_text(encoding="utf-8"))
VECTORS: list[dict[str, Any]] = PUBLISHED["vectors"]
DOMAINS: list[dict[str, Any]] = PUBLISHED["domains"]
# what the page spells out; `draw` in its own file defines any other protocol
PAGE = ("grr", "rappor", "oue", "ue", "the", "blh", "olh", "ss", "pgr", "hrr", "hr")
SLOW = "pgr, d = 1000003"  # ten seconds for a set whose smaller ones say as much
SPELT_OUT = [
    v
    for v in VECTORS
    if v["plan"]["groups"][0]["protocol"].partition("(")[0] in PAGE and v["plan"]["name"] != SLOW
]
each_vector = pytest.mark.parametrize("vector", VECTORS, ids=[v["plan"]["name"] for v in VECTORS])


class GivenBytes:
    """Stands in for a client's generator."""

    def __init__(self, words: list[str]) -> None:
        self.rest = b"".join(int(word, 16).to_bytes(8, "little") for word in words)

    def bytes(self, length: int) -> bytes:
        given, self.rest = self.rest[:length], self.rest[length:]
        return given.ljust(length, b"\0")  # a client fetches words ahead


def test_the_published_file_is_what_the_generator_writes() -> None:
    assert FILE.read_bytes() == vectors.text().encode(), (
        f"write it again: python -m ldp3.collection.vectors docs/{FILE.name}"
    )


@each_vector
def test_a_client_sends_what_the_vector_says(vector: dict[str, Any]) -> None:
    client = Client(Plan.read(vector["plan"], "vector"))
    for case in vector["reports"]:
        client._rng = GivenBytes(case["words"])  # type: ignore[assignment]
        assert client.report(case["value"]).hex() == case["report"]


@each_vector
def test_a_vector_names_exactly_the_words_that_are_used(vector: dict[str, Any]) -> None:
    plan = Plan.read(vector["plan"], "vector")
    for case in vector["reports"]:
        assert all(len(word) == 16 for word in case["words"])
        given = Words.of([int(word, 16) for word in case["words"]])
        report_from_words(plan, plan.code(case["value"]), given)
        assert next(given, None) is None


def test_the_vectors_cover_every_protocol_and_more_than_one_size() -> None:
    plans = [vector["plan"] for vector in VECTORS]
    alone = [plan["groups"][0]["protocol"] for plan in plans if plan["scheme"] is None]
    schemes = [plan["scheme"] for plan in plans if plan["scheme"] is not None]
    named = {spec.partition("(")[0] for spec in (*alone, *schemes)}
    assert named == {*deployable(), *deployable(records=True)}
    assert {plan["report"]["payload_bytes"] for plan in plans} >= {1, 2, 3, 9, 11}


def test_every_threshold_is_met_from_below_and_from_above() -> None:
    for vector in VECTORS:
        groups = vector["plan"]["groups"]
        sizes = vectors.RECORDS[0][1]
        name = vector["plan"]["name"]
        small = str(sizes) in name or name.endswith("d = 5")
        if not small:
            continue
        words = {int(word, 16) for case in vector["reports"] for word in case["words"]}
        constants = [int(text) for group in groups for text in group["constants"].values()]
        thresholds = {constant for constant in constants if constant >= vectors.THRESHOLD}
        assert thresholds
        thresholds |= set(accumulate(int(group["share"]) for group in groups[:-1]))
        assert words >= thresholds | {threshold - 1 for threshold in thresholds}


def client_on_the_page() -> dict[str, Any]:
    text = (DOCS / "wire-format.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    client: dict[str, Any] = {}
    for block in blocks:
        exec(block, client)
    return client


@pytest.mark.parametrize("domain", DOMAINS, ids=[v["plan"]["name"] for v in DOMAINS])
def test_the_code_in_the_specification_gives_the_codes(domain: dict[str, Any]) -> None:
    client = client_on_the_page()
    plan = Plan.read(domain["plan"], "domain")
    for case in domain["codes"]:
        assert client["code"](domain["plan"], case["value"]) == case["code"]
        if case["code"] is not None:
            code = plan.code(case["value"])
            if isinstance(plan.domain, Records):
                code = plan.domain.columns(np.array([code]))[0].tolist()
            assert code == case["code"]
            continue
        with pytest.raises(InvalidValue, match="nothing was sent"):
            plan.code(case["value"])


@pytest.mark.parametrize("vector", SPELT_OUT, ids=[v["plan"]["name"] for v in SPELT_OUT])
def test_the_code_in_the_specification_gives_the_vectors(vector: dict[str, Any]) -> None:
    client = client_on_the_page()
    for case in vector["reports"]:
        words = iter([int(word, 16) for word in case["words"]])
        assert client["report"](vector["plan"], case["value"], words).hex() == case["report"]
        assert next(words, None) is None


def test_the_identifier_is_hashed_as_the_specification_says() -> None:
    plans = [each["plan"] for each in (*VECTORS, *DOMAINS)]
    for plan in (Plan("Füße", ("ä", "ö"), "olh", 1.0).describe(), *plans):
        hashed = {k: v for k, v in plan.items() if k not in ("identifier", "ledger")}
        text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        assert sha256(text.encode("ascii")).hexdigest() == plan["identifier"]


def test_the_vectors_hold_numbers_and_texts_that_languages_write_in_different_ways() -> None:
    text = FILE.read_text(encoding="utf-8")
    for number in ("1e-07", "1e+16", "1.2345678901234568e+17", "1e+22", "0.00012", "1e-05"):
        assert re.search(rf"[\[ :]{re.escape(number)}[,\]]", text), number
    assert {"🙂", "𝔸", "日"} < set(text)


def test_the_table_of_sizes_is_right() -> None:
    text = (DOCS / "wire-format.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z`, ]+) \|.*\| (\d+) \+ (\d) = (\d+) bytes", text, re.M)
    assert len(rows) == 8
    for specs, payload, tag, size in rows:
        for spec in specs.replace("`", "").split(", "):
            plan = Plan("x", suited(spec, 128), spec, 1.0)
            assert (plan.wire.payload_bytes, plan.report_bytes) == (int(payload), int(size))
            assert int(tag) == plan.report_bytes - plan.wire.payload_bytes


def test_a_plan_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "ldp3.collection.vectors", "vectors.json", "missing.json"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "missing.json: there is no such file.\n")
    assert not list(tmp_path.iterdir())
