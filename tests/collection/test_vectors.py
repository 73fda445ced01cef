"""The published vectors: what the generator writes, what a client sends, for every protocol."""

import json
from pathlib import Path
from typing import Any

import pytest

from ldp3.collection import vectors
from ldp3.collection.client import Client, report_from_words
from ldp3.collection.plan import Plan, deployable
from ldp3.randomness import Words

FILE = Path(__file__).parents[2] / "docs" / "wire-format-vectors.json"
VECTORS: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["vectors"]
each_vector = pytest.mark.parametrize(
    "vector", VECTORS, ids=[v["description"]["name"] for v in VECTORS]
)


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
    client = Client(Plan.read(vector["description"], "vector"))
    for case in vector["reports"]:
        client._rng = GivenBytes(case["words"])  # type: ignore[assignment]
        assert client.report(case["value"]).hex() == case["report"]


@each_vector
def test_a_vector_names_exactly_the_words_that_are_used(vector: dict[str, Any]) -> None:
    plan = Plan.read(vector["description"], "vector")
    for case in vector["reports"]:
        assert all(len(word) == 16 for word in case["words"])
        given = Words.of([int(word, 16) for word in case["words"]])
        report_from_words(plan, case["value"], given)
        assert next(given, None) is None


def test_the_vectors_cover_every_protocol_and_more_than_one_size() -> None:
    descriptions = [vector["description"] for vector in VECTORS]
    assert {d["protocol"].partition("(")[0] for d in descriptions} == set(deployable())
    assert {d["payload_bytes"] for d in descriptions} >= {1, 2, 3, 9, 11}


def test_every_threshold_is_met_from_below_and_from_above() -> None:
    for vector in VECTORS:
        description = vector["description"]
        if description["d"] != 5:
            continue
        words = {int(word, 16) for case in vector["reports"] for word in case["words"]}
        constants = map(int, description["constants"].values())
        thresholds = {constant for constant in constants if constant >= vectors.THRESHOLD}
        assert thresholds
        assert words >= thresholds | {threshold - 1 for threshold in thresholds}
