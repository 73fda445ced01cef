"""Interactions of tables, and how the answers of groups are joined."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldp3
from ldp3 import Labels, Records, stream
from ldp3.arrays import FloatArray
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.schemes.attributes import Groups, Joint, Pairs
from ldp3.schemes.spl import SPL
from ldp3.tables import (
    GroupAnswer,
    TableNoise,
    Tables,
    composed,
    interaction,
    margin,
    parts,
    spread,
)
from ldp3.types import Tally

SIZES = (2, 3, 4)
PEOPLE = stream(0, "people").multinomial(30_000, stream(1).dirichlet(np.full(24, 0.3)))
TRUTH = PEOPLE.reshape(SIZES) / PEOPLE.sum()


def joined(epsilon: float = 1.0, seed: int = 0) -> Tables:
    scheme = Groups(epsilon, 24, SIZES)
    return scheme.tables(scheme.simulate(PEOPLE, stream(seed, "tables")))


@given(st.permutations([0, 1, 2]), st.integers(0, 2**32))
def test_a_table_is_the_sum_of_its_interactions(own: list[int], seed: int) -> None:
    table = np.random.default_rng(seed).dirichlet(np.ones(24)).reshape([SIZES[a] for a in own])
    split = {T: interaction(table, tuple(own), T) for T in parts(own)}
    np.testing.assert_allclose(composed(split, tuple(own)), table, atol=1e-15)
    for c in split.values():
        for axis in range(c.ndim):
            np.testing.assert_allclose(c.sum(axis=axis), 0, atol=1e-12)


def test_an_interaction_is_the_same_in_every_table_that_has_it() -> None:
    small = margin(TRUTH, (0, 1, 2), (2, 0))
    np.testing.assert_allclose(
        interaction(small, (2, 0), (0, 2)), interaction(TRUTH, (0, 1, 2), (0, 2)), atol=1e-13
    )
    np.testing.assert_array_equal(spread(small, (2, 0), (0, 1, 2))[:, 0], small.T)


def dense(tables: Tables) -> FloatArray:
    """The whole table by least squares with one unknown for each record."""
    rows, seen = [np.ones((1, 24))], [np.ones(1)]
    weights = [np.array([1e6])]
    every = np.stack(np.unravel_index(np.arange(24), SIZES), axis=1)
    for answer in tables.answers:
        own = list(answer.attributes)
        cell = np.ravel_multi_index(tuple(every[:, own].T), [SIZES[a] for a in own])
        table = answer.table.ravel()
        rows.append(np.eye(len(table))[:, cell])
        seen.append(table - (table.sum() - 1) / len(table))
        weights.append(np.full(len(table), (answer.information * len(table)) ** 0.5))
    w = np.concatenate(weights)
    found = np.linalg.lstsq(np.concatenate(rows) * w[:, None], np.concatenate(seen) * w)[0]
    return found.reshape(SIZES)


def test_joining_is_least_squares() -> None:
    tables = joined()
    assert len(tables.answers) > 3
    for own in [(0,), (1, 2), (2, 0)]:
        expected = margin(dense(tables), (0, 1, 2), own).ravel()
        np.testing.assert_allclose(tables[own].frequencies, expected, atol=2e-12)


def test_tables_agree_on_what_they_have_in_common() -> None:
    tables = joined()
    first, second = (tables[pair].frequencies for pair in [(0, 1), (1, 2)])
    np.testing.assert_allclose(
        first.reshape(2, 3).sum(axis=0), second.reshape(3, 4).sum(axis=1), atol=1e-14
    )
    assert abs(first.sum() - 1) < 1e-12


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_variance_of_a_cell_is_that_of_a_query_of_it(epsilon: float) -> None:
    tables = joined(epsilon)
    mean = replace(tables, answers=tuple(replace(a, channel=None) for a in tables.answers))
    for key in tables:
        found = tables[key]
        assert isinstance(found.noise, TableNoise)
        covariance = found.noise.covariance(np.eye(found.d))
        np.testing.assert_allclose(np.diag(covariance), found.variance, rtol=0.1)  # pgr: nearly
        flat = mean.covariance(mean.attributes(key), np.eye(found.d))
        np.testing.assert_allclose(np.diag(flat), found.variance, rtol=1e-2)
        w = np.linspace(-1, 2, found.d)
        assert found.noise.of_query(w, found.frequencies) == pytest.approx(w @ covariance @ w)


def test_nothing_is_left_of_the_noise_of_a_sum_over_all() -> None:
    found = joined()[0, 1]
    assert found.noise.of_query(np.ones(6), found.frequencies) == pytest.approx(0, abs=1e-12)


def test_the_order_of_the_attributes_is_that_of_the_key() -> None:
    tables = joined()
    there, back = tables[0, 2], tables[2, 0]
    np.testing.assert_allclose(back.frequencies.reshape(4, 2).T.ravel(), there.frequencies)
    np.testing.assert_allclose(back.variance.reshape(4, 2).T.ravel(), there.variance)


def test_a_table_that_no_group_saw_is_refused() -> None:
    scheme = Pairs(1.0, 24, SIZES)
    tables = scheme.tables(scheme.simulate(PEOPLE, stream(0)))
    assert (0, 1) in tables.targets
    with pytest.raises(InvalidData, match="No group that has reports saw 0 × 1 × 2 together"):
        tables[0, 1, 2]


def test_a_group_without_reports_tells_nothing() -> None:
    answer = GroupAnswer((0, 1), np.full((2, 3), 1 / 6), 5, 1.0, 0.0)
    tables = Tables(SIZES, (answer,), Tally(np.zeros(0), 5), ((0, 1), (1, 2), (1,)))
    assert list(tables) == [(0, 1), 1]
    assert len(tables) == 2


def test_names_of_attributes_are_keys() -> None:
    named = zip("abc", SIZES, strict=True)
    parts_of = [Labels([f"{name}{i}" for i in range(d)], name=name) for name, d in named]
    scheme = Joint(1.0, 24, SIZES)
    tables = scheme.tables(scheme.simulate(PEOPLE, stream(0)), Records(parts_of))
    assert list(tables)[:4] == ["a", "b", "c", ("a", "b")]
    assert tables["b"].domain is parts_of[1]
    assert tables["c", "a"].to_frame()["label"][1] == "c0, a1"
    with pytest.raises(InvalidParameter, match="There is no attribute 'd'"):
        tables["d"]
    with pytest.raises(InvalidParameter, match="of different attributes"):
        tables["a", "a"]
    with pytest.raises(InvalidParameter, match="numbers from 0 to 2, got 3"):
        joined()[3]


def test_flat_holds_all_targets() -> None:
    sizes = [2, 3, 4, *(a * b for a, b in combinations(SIZES, 2))]
    assert len(joined().flat) == sum(sizes)


def test_tables_show_what_can_be_asked_and_not_their_numbers() -> None:
    made = joined()
    assert repr(made).endswith("asked for by [0, 1, 2, (0, 1), (0, 2), (1, 2)]")
    split = SPL(1.0, 24, SIZES)
    assert len(repr(split.tables(split.empty))) < 80


def test_what_a_method_makes_of_tables_is_asked_for_in_any_order() -> None:
    made = joined()
    found = ldp3.postprocess("interactions")(made)
    np.testing.assert_array_equal(found[2, 1], found[1, 2].reshape(3, 4).T.ravel())
    with pytest.raises(InvalidData, match=r"1 × 0 is none of the tables: \[2\]"):
        ldp3.postprocess("norm_sub")(replace(made, targets=((2,),)))[1, 0]


def test_one_attribute_without_reports_is_not_said_to_be_several() -> None:
    scheme = Groups(1.0, 24, SIZES)
    with pytest.raises(InvalidData, match=r"No group that has reports saw 1\.$"):
        scheme.tables(scheme.empty)[1]
