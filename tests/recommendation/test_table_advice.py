"""Several attributes: which scheme and which method, and how near the limit."""

import numpy as np
import pytest

import ldp3
from ldp3.domain import Integers, Records
from ldp3.errors import InvalidParameter
from ldp3.people import Table
from ldp3.recommendation.table_advice import TableRecommendation


def table(n: int = 50_000) -> Table:
    sizes = (3, 4, 5)
    domain = Records([Integers(size, name=name) for name, size in zip("abc", sizes, strict=True)])
    records = np.stack(np.unravel_index(np.arange(60), sizes), axis=1)
    rng = ldp3.stream(0, "people")
    return Table("t", domain, records, rng.multinomial(n, rng.dirichlet(np.full(60, 5.0))))


def test_a_scheme_and_a_method_are_recommended_with_their_distance_from_the_limit() -> None:
    found = ldp3.recommend(table(), 1.0, ["groups", "joint", "smp"], ["none", "interactions"])
    assert isinstance(found, TableRecommendation)
    assert (found.protocol, found.epsilon) == ("groups", 1.0)
    assert 0 <= found.above_limit < 0.1
    text = found.render()
    assert text.startswith("Deploy Groups")
    assert "above what any mechanism with this ε could reach" in text
    assert '"protocol": "groups"' in found.render("json")


def test_what_a_table_has_no_recommendation_for_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="no requirements, no attacks"):
        ldp3.recommend(table(), max_bits=8)
    with pytest.raises(InvalidParameter, match="schemes that tell the tables of one attribute and"):
        ldp3.recommend(table(), 1.0, "smp", "none")
    with pytest.raises(InvalidParameter, match="grr is for one attribute"):
        ldp3.recommend(table(), 1.0, "grr")
