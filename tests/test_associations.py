"""Whether attributes go together: false alarms and coverage, with computed rates.

The approximations are good to some percent: a test at 5 % may reject 7 % of independent tables, an
interval of 95 % may miss 8 %. Counts are held against these rates at α = 10⁻⁶.
"""

import numpy as np
import pytest
from scipy.stats import binom, chi2

from ldp3 import Labels, LDPError, Records, stream
from ldp3.arrays import FloatArray
from ldp3.associations import Association, associated, fieller, shares_within
from ldp3.errors import InvalidData
from ldp3.schemes.attributes import Groups
from ldp3.schemes.spl import SPL
from ldp3.tables import Tables
from ldp3.verification.base import ALPHA

ROWS, COLUMNS = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.3, 0.2, 0.1])
EVEN = np.outer(ROWS, COLUMNS)
TILTED = EVEN * np.array([[1.5, 1, 0.5, 0.5], [0.5, 1, 1.5, 1], [0.5, 1, 1.5, 3]])
TILTED /= TILTED.sum()
RUNS, PEOPLE = 40, 40_000


def collected(truth: FloatArray, epsilon: float, run: int) -> tuple[Tables, FloatArray]:
    """Tables of people who are a sample, and their own table; a third attribute is even."""
    rng = stream(run, "association", str(epsilon))
    scheme = Groups(epsilon, 24, (3, 4, 2), targets=((0, 1), 1))
    held = rng.multinomial(PEOPLE, np.repeat(truth.ravel() / 2, 2))
    return scheme.tables(scheme.simulate(held, rng)), held.reshape(3, 4, 2).sum(axis=2) / PEOPLE


def true_v(truth: FloatArray) -> float:
    even = np.outer(truth.sum(axis=1), truth.sum(axis=0))
    return float((((truth - even) ** 2 / even).sum() / 2) ** 0.5)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_independence_is_seldom_rejected_and_the_usual_test_always_does(epsilon: float) -> None:
    rejected = usual = 0
    for run in range(RUNS):
        tables, _ = collected(EVEN, epsilon, run)
        rejected += tables.association(0, 1).found
        f = tables[0, 1].frequencies.reshape(3, 4)
        even = np.outer(f.sum(axis=1), f.sum(axis=0))
        usual += bool(chi2.sf(PEOPLE * ((f - even) ** 2 / even).sum(), 6) < 0.05)
    assert rejected <= binom.isf(ALPHA, RUNS, 0.07)
    if epsilon == 1.0:
        assert usual > 0.9 * RUNS


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize("truth", [EVEN, TILTED], ids=["independent", "tilted"])
def test_intervals_hold(truth: FloatArray, epsilon: float) -> None:
    v, covered, shares = true_v(truth), 0, 0
    for run in range(RUNS):
        tables, own = collected(truth, epsilon, run)
        found = tables.association(0, 1)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= v <= found.high
        within = tables.share(1, by=0)
        asked = own / own.sum(axis=1, keepdims=True)
        shares += bool(within.low[2, 1] <= asked[2, 1] <= within.high[2, 1])
    assert covered >= binom.ppf(ALPHA, RUNS, 0.92)
    assert shares >= binom.ppf(ALPHA, RUNS, 0.92)


def test_what_goes_together_is_found() -> None:
    found = collected(TILTED, 3.0, 0)[0].association(0, 1)
    assert found.found
    assert found.v == pytest.approx(true_v(TILTED), abs=0.03)
    assert str(found).startswith("They go together (p < 0.001); Cramér's V 0.")


def test_rare_rows_are_merged_or_nothing_is_told() -> None:
    def noise(queries: FloatArray) -> FloatArray:
        return 1e-4 * queries @ queries.T

    table = np.array([[0.3, 0.29], [0.2, 0.19], [0.01, 0.01]])
    some = associated(table, noise)
    assert some.merged == 2  # the rare one and the least of the others
    assert (some.v, some.high) == (None, 1.0)
    told = associated(np.array([[0.5, 0.48], [0.01, 0.01]]), noise)
    assert (told.p_value, told.v, told.found) == (None, None, False)
    assert "cannot be told" in str(told)
    with pytest.raises(InvalidData, match="takes too long"):
        associated(np.full((60, 60), 1 / 3600), noise)
    assert "may be independent" in str(Association(0.3, 0.1, 0.0, 0.2, 0.95))


def test_fieller_is_the_ratio_where_the_row_is_certain() -> None:
    low, high = fieller(0.1, 0.4, np.diag([1e-4, 0.0]), 1.0)
    assert (low, high) == pytest.approx((0.225, 0.275))


def test_a_row_that_may_be_empty_says_nothing() -> None:
    assert fieller(0.001, 0.001, np.diag([1e-2, 1e-2]), 1.96) == (0.0, 1.0)
    assert fieller(-0.3, 0.5, np.diag([1e-4, 1e-4]), 1.96) == (0.0, 0.0)


def test_shares_have_names() -> None:
    domain = Records(
        [
            Labels(["a", "b", "c"], name="country"),
            Labels(["w", "x", "y", "z"], name="page"),
            Labels(["f", "m"], name="sex"),
        ]
    )
    scheme = Groups(2.0, 24, domain.sizes)
    held = stream(0).multinomial(PEOPLE, np.repeat(TILTED.ravel() / 2, 2))
    tables = scheme.tables(scheme.simulate(held, stream(1)), domain)
    frame = tables.share("page", by="country").to_frame()
    assert frame.row(1)[:2] == ("a", "x")
    assert ((frame["low"] <= frame["share"]) & (frame["share"] <= frame["high"])).all()
    with pytest.raises(LDPError, match="of different attributes"):
        tables.share("page", by="page")
    spl = SPL(2.0, 24, domain.sizes)
    with pytest.raises(LDPError, match="not known how the errors"):
        spl.tables(spl.simulate(held, stream(1))).association(0, 1)


def test_rows_without_names_are_numbered() -> None:
    found = shares_within(np.array([[0.2, 0.3], [0.0, 0.5]]), lambda q: 1e-6 * q @ q.T)
    assert found.share.ravel().tolist() == pytest.approx([0.4, 0.6, 0, 1], abs=1e-9)
    assert found.to_frame()["among"].to_list() == ["0", "0", "1", "1"]
