"""What the documents say is so."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ldp3.collection.plan import Plan
from ldp3.errors import InvalidValue

DOCS = Path(__file__).parents[2] / "docs"
PUBLISHED = json.loads((DOCS / "wire-format-vectors.json").read_text())
VECTORS: list[dict[str, Any]] = PUBLISHED["vectors"]
DOMAINS: list[dict[str, Any]] = PUBLISHED["domains"]


# what the page spells out; `draw` in its own file defines any other protocol
PAGE = ("grr", "rappor", "oue", "ue", "the", "blh", "olh", "ss", "pgr", "hrr", "hr")
SLOW = "pgr, d = 1000003"  # ten seconds for a set whose smaller ones say as much
SPELT_OUT = [
    v
    for v in VECTORS
    if v["description"]["protocol"].partition("(")[0] in PAGE and v["description"]["name"] != SLOW
]


def client_on_the_page() -> dict[str, Any]:
    text = (DOCS / "wire-format.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    client: dict[str, Any] = {}
    for block in blocks:
        exec(block, client)
    return client


@pytest.mark.parametrize("domain", DOMAINS, ids=[v["description"]["name"] for v in DOMAINS])
def test_the_code_in_the_specification_gives_the_codes(domain: dict[str, Any]) -> None:
    client = client_on_the_page()
    plan = Plan.read(domain["description"], "domain")
    for case in domain["codes"]:
        assert client["code"](domain["description"], case["value"]) == case["code"]
        if case["code"] is not None:
            assert plan.code(case["value"]) == case["code"]
            continue
        with pytest.raises(InvalidValue, match="nothing was sent"):
            plan.code(case["value"])


@pytest.mark.parametrize("vector", SPELT_OUT, ids=[v["description"]["name"] for v in SPELT_OUT])
def test_the_code_in_the_specification_gives_the_vectors(vector: dict[str, Any]) -> None:
    client = client_on_the_page()
    for case in vector["reports"]:
        words = iter([int(word, 16) for word in case["words"]])
        assert client["report"](vector["description"], case["value"], words).hex() == case["report"]
        assert next(words, None) is None


def test_the_identifier_is_hashed_as_the_specification_says() -> None:
    from hashlib import sha256

    description = Plan("Füße", "olh", 1.0, 2, ("ä", "ö")).describe()
    hashed = {k: v for k, v in description.items() if k not in ("identifier", "ledger")}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert sha256(text.encode("ascii")).hexdigest() == description["identifier"]


def test_the_table_of_sizes_is_right() -> None:
    text = (DOCS / "wire-format.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z`, ]+) \|.*\| (\d+) \+ (\d) = (\d+) bytes", text, re.M)
    assert len(rows) == 7
    for specs, payload, tag, size in rows:
        for spec in specs.replace("`", "").split(", "):
            plan = Plan("x", spec, 1.0, 128)
            assert (plan.wire.payload_bytes, plan.report_bytes) == (int(payload), int(size))
            assert int(tag) == plan.report_bytes - plan.wire.payload_bytes
