"""Whether attributes go together: false alarms and coverage, with computed rates.

The approximations are good to some percent: a test at 5 % may reject 7 % of independent tables, an
interval of 95 % may miss 8 %. Counts are held against these rates at α = 10⁻⁶.
"""

import numpy as np
import pytest
from scipy.stats import binom, chi2, norm

from ldp3 import Labels, LDPError, Records, stream
from ldp3.arrays import FloatArray
from ldp3.associations import Association, associated, cramer, shares_within
from ldp3.errors import InvalidData
from ldp3.questions import fieller
from ldp3.schemes.attributes import Groups
from ldp3.schemes.spl import SPL
from ldp3.tables import TableNoise, Tables
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


@pytest.mark.parametrize("seen", [1.5, 3.0, 10.0])  # standard deviations
def test_of_two_values_each_the_interval_of_v_is_exact(seen: float) -> None:
    way, deviation = np.array([1, -1, -1, 1]) / 2, 0.01
    table = (0.25 + seen * deviation * way).reshape(2, 2)
    noise = deviation**2 * np.outer(way, way)
    _, *ends = cramer(table, lambda queries: queries @ noise @ queries.T, 0.95)
    for end, below in zip(ends, (0.975, 0.025), strict=True):
        true = end / 2 / deviation  # what is seen is |true + a normal number|
        found = norm.cdf(seen - true) - norm.cdf(-seen - true)
        assert found == pytest.approx(below, abs=1e-9) if end else found < below


def falling(*sizes: int) -> list[FloatArray]:
    """Margins with 1, 1/2, 1/3 … of people."""
    return [1 / np.arange(1, d + 1) / (1 / np.arange(1, d + 1)).sum() for d in sizes]


def mostly(d: int, first: float) -> FloatArray:
    """A margin where nearly all hold the first value."""
    return np.append(first, np.full(d - 1, (1 - first) / (d - 1)))


@pytest.mark.parametrize(
    ("margins", "epsilon", "people"),
    [
        (falling(9, 5, 2), 4.0, 1_000),  # 22 % were rejected, for rare cells seemed certain
        ([mostly(2, 0.97), mostly(30, 0.9)], 4.0, 50_000),  # 20 %: noise chose whom to merge
        ([mostly(2, 0.97), mostly(30, 0.9)], 2.0, 50_000),  # 7.5 %: of pgr the mean law was taken
    ],
    ids=["rare cells", "rare values", "pgr"],
)
def test_the_level_holds_where_values_are_rare(
    margins: list[FloatArray], epsilon: float, people: int
) -> None:
    runs, truth = 150, margins[0]
    for one in margins[1:]:
        truth = np.multiply.outer(truth, one)
    scheme = Groups(epsilon, truth.size, truth.shape)
    rejected = 0
    for run in range(runs):
        rng = stream(run, "rare", str(people))
        tables = scheme.tables(scheme.simulate(rng.multinomial(people, truth.ravel()), rng))
        rejected += tables.association(0, 1).found
    assert rejected <= binom.isf(ALPHA, runs, 0.06)


def test_the_covariance_of_pgr_is_exact_where_nearly_all_hold_one_value() -> None:
    truth = np.outer(mostly(2, 0.97), mostly(30, 0.9))
    scheme = Groups(2.0, 60, (2, 30))
    assert "PGR" in {type(group.oracle).__name__ for group in scheme.groups}
    runs, sums, rng = 400, stream(1).normal(size=(6, 60)), stream(0)
    made = [scheme.tables(scheme.simulate(rng.multinomial(50_000, truth.ravel()), rng))
            for _ in range(runs)]  # fmt: skip
    found = np.array([sums @ tables[0, 1].frequencies for tables in made])
    noise = made[0][0, 1].noise
    assert isinstance(noise, TableNoise)
    stated = np.diag(noise.of_population(sums, truth))
    ratios = (runs - 1) * found.var(axis=0, ddof=1) / stated
    assert (chi2.sf(ratios, runs - 1) > ALPHA).all()
    assert (chi2.cdf(ratios, runs - 1) > ALPHA).all()


def test_what_goes_together_is_found() -> None:
    found = collected(TILTED, 3.0, 0)[0].association(0, 1)
    assert found.found
    assert found.v == pytest.approx(true_v(TILTED), abs=0.03)
    assert str(found).startswith("They go together (p < 0.001); Cramér's V 0.")


def test_rare_rows_are_merged_or_nothing_is_told() -> None:
    def noise(queries: FloatArray, truth: FloatArray) -> FloatArray:
        return 1e-4 * queries @ queries.T

    table = np.array([[0.3, 0.29], [0.2, 0.19], [0.01, 0.01]])
    some = associated(table, noise, 1_000)
    assert some.merged == 2  # the rare one and the least of the others
    assert (some.v, some.high) == (None, 1.0)
    assert "0.00 or more" not in str(some)  # which says nothing
    assert "too few people to tell how much" in str(some)
    told = associated(np.array([[0.5, 0.48], [0.01, 0.01]]), noise, 1_000)
    assert (told.v, told.low, told.found) == (None, None, False)
    assert told.needed == 8_000  # 0.02 is √2 standard deviations, and four are needed
    assert "too few people to tell how much" in str(told)
    assert "about 8,000 or more" in str(told)
    with pytest.raises(InvalidData, match="takes too long"):
        associated(np.full((60, 60), 1 / 3600), noise, 1_000)
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
    with pytest.raises(LDPError, match="A table is of different attributes, got"):
        tables.share("page", by="page")
    spl = SPL(2.0, 24, domain.sizes)
    with pytest.raises(LDPError, match="not known how the errors"):
        spl.tables(spl.simulate(held, stream(1))).association(0, 1)


def test_rows_without_names_are_numbered() -> None:
    found = shares_within(np.array([[0.2, 0.3], [0.0, 0.5]]), lambda q: 1e-6 * q @ q.T)
    assert found.share.ravel().tolist() == pytest.approx([0.4, 0.6, 0, 1], abs=1e-9)
    assert found.to_frame()["among"].to_list() == ["0", "0", "1", "1"]


def test_shares_of_a_row_that_may_be_empty_are_not_told() -> None:
    table = np.array([[0.5, 0.48], [0.03, -0.01], [-0.01, 0.01]])
    found = shares_within(table, lambda q: 1e-3 * q @ q.T)
    assert found.share[0].sum() == pytest.approx(1)
    assert np.isnan(found.share[1:]).all()
    assert found.to_frame()["share"].null_count() == 4
    assert (found.low[1:] == 0).all()
