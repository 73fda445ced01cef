"""One report from words: the law of `perturb`, the hash of the protocol, the published vectors."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldp3
from ldp3.collection.client import report_from_words
from ldp3.collection.definition import draw, hashed, thresholds
from ldp3.collection.plan import Plan
from ldp3.errors import InvalidParameter
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.local_hashing import OLH, LocalHashing
from ldp3.randomness import WORDS
from ldp3.arrays import Reports
from ldp3.verification.base import ALPHA, same_law_p

SPECS = ["grr", "rappor", "oue", "blh", "olh", "olh(g=5)", "ss", "ss(k=1)", "ss(k=4)"]
VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "docs" / "wire-format-vectors.json").read_text()
)["vectors"]
N = 40_000


def words(*key: str | int) -> Iterator[int]:
    rng = ldp3.stream(1, "words", *key)
    while True:
        yield from rng.integers(0, WORDS, size=4096, dtype=np.uint64).tolist()


def comparable(oracle: FrequencyOracle, reports: Reports, value: int) -> np.ndarray:
    """What the law of a report is about: seeds are never equal, so only two of their bits."""
    if isinstance(oracle, LocalHashing):
        cells = reports["cell"].astype(np.int64) - oracle.hash(reports["seed"], value)
        return np.stack([cells % oracle.g, reports["seed"] & np.uint64(3)], axis=1).astype(int)
    return reports.reshape(len(reports), -1)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("value", [0, 4])
def test_words_give_reports_with_the_law_of_perturb(spec: str, value: int) -> None:
    plan = Plan("test", spec, 1.0, 5)
    source = words(spec, value)
    size = plan.wire.payload_bytes
    drawn = b"".join(draw(plan.oracle, value, source).to_bytes(size, "little") for _ in range(N))
    ours = plan.wire.decode(np.frombuffer(drawn, dtype=np.uint8).reshape(N, size))
    assert plan.oracle.valid(ours).all()
    theirs = plan.oracle.perturb(np.full(N, value), ldp3.stream(0, spec, value))
    p = same_law_p(comparable(plan.oracle, ours, value), comparable(plan.oracle, theirs, value))
    assert p >= ALPHA / (2 * len(SPECS))


@pytest.mark.parametrize("g", [2, 4, 255, 65_536, 65_537, 2**31])
@pytest.mark.parametrize("d", [2, 5, 128, 1_000_003])
def test_the_hash_of_one_report_is_the_hash_of_the_protocol(g: int, d: int) -> None:
    oracle = OLH(1.0, d, g=g)
    rng = ldp3.stream(0, "hash", g, d)
    seeds = rng.integers(0, WORDS, size=50, dtype=np.uint64)
    for value in {0, 1, d // 2, d - 2, d - 1}:
        cells = [hashed(int(seed), value, oracle.low_bits, g) for seed in seeds]
        assert cells == oracle.hash(seeds, value).tolist()


@pytest.mark.parametrize("spec", SPECS)
def test_the_edges_of_the_thresholds_are_exact(spec: str) -> None:
    oracle = Plan("test", spec, 1.0, 5).oracle
    limit = thresholds(oracle).get("truth") or thresholds(oracle)["own"]
    rest = words(spec)

    def from_choice(word: int) -> int:
        first = [0, word] if isinstance(oracle, LocalHashing) else [word]
        return draw(oracle, 0, iter([*first, *(next(rest) for _ in range(200))]))

    inside, outside = from_choice(limit - 1), from_choice(limit)
    if isinstance(oracle, LocalHashing):
        cell = hashed(0, 0, oracle.low_bits, oracle.g)
        assert inside >> 64 == cell != outside >> 64
    elif spec == "grr":
        assert inside == 0 != outside
    else:
        assert inside & 1
        assert not outside & 1


def test_the_last_word_gives_the_last_lie() -> None:
    oracle = Plan("test", "grr", 1.0, 5).oracle
    assert draw(oracle, 0, iter([WORDS - 1])) == 4
    assert draw(oracle, 4, iter([WORDS - 1])) == 3


@pytest.mark.parametrize("vector", VECTORS, ids=[v["description"]["name"] for v in VECTORS])
def test_every_published_vector_holds(vector: dict[str, Any]) -> None:
    plan = Plan.read(vector["description"], "vector")
    for case in vector["reports"]:
        given = iter([int(word, 16) for word in case["words"]])
        assert report_from_words(plan, case["value"], given).hex() == case["report"]
        assert next(given, None) is None, "the vector names exactly the words that are used"


def test_the_vectors_cover_every_protocol_and_more_than_one_size() -> None:
    descriptions = [vector["description"] for vector in VECTORS]
    names = {d["protocol"].partition("(")[0] for d in descriptions}
    assert names == {"grr", "rappor", "oue", "blh", "olh", "ss"}
    assert {d["payload_bytes"] for d in descriptions} >= {1, 2, 3, 9, 11}


def test_a_protocol_without_wire_format_is_refused() -> None:
    class Other(FrequencyOracle):
        def perturb(self, values: Any, rng: Any) -> Any: ...
        def estimate(self, total: Any, n: int) -> Any: ...

    for use in (thresholds, lambda oracle: draw(oracle, 0, words())):
        with pytest.raises(InvalidParameter, match="Other has no wire format"):
            use(Other(1.0, 2))
