"""Upper bounds hold against plain enumeration of shuffled reports, and attacks never claim more."""

from collections.abc import Callable, Iterator
from itertools import combinations, product
from math import ceil, comb, exp, inf, lgamma, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from ldp3 import shuffling
from ldp3.arrays import FloatArray
from ldp3.errors import InvalidParameter
from ldp3.protocols.base import build_oracle
from ldp3.protocols.layout import Code
from ldp3.protocols.pure import PureOracle
from ldp3.shuffling import Blanket, Distinguisher, Shuffled, local_epsilon, positive_part

SMALL = [
    *(("grr", d) for d in (2, 3, 4)),
    *(("rappor", d) for d in (2, 3)),
    *(("oue", d) for d in (2, 3)),
    ("ss", 4),
    ("ss(k=2)", 4),
    ("ss(k=3)", 4),
    *(("hrr", d) for d in (3, 4)),
    *(("pgr", d) for d in (3, 4)),
    ("pi_rappor", 3),
    *(("the", d) for d in (2, 3)),
    *((spec, d) for spec in ("blh", "olh") for d in (2, 3)),  # by what their reports support
]
MOST_HISTOGRAMS = 2_000  # that are enumerated: plain Python is slow


def pure(spec: str, epsilon: float, d: int) -> PureOracle:
    oracle = build_oracle(spec, epsilon=epsilon, d=d)
    assert isinstance(oracle, PureOracle)
    return oracle


def channel(oracle: PureOracle) -> FloatArray:
    """Probability of every support set (columns) given every value (rows), by the definition."""
    ratio, d = oracle.support_ratio, oracle.d
    assert ratio is not None
    if oracle.support_size is not None:
        sets = np.array(list(combinations(range(d), oracle.support_size)))
        member = np.zeros((len(sets), d), dtype=bool)
        member[np.arange(len(sets))[:, None], sets] = True
        weight = np.where(member.T, float(ratio), 1.0)
        return weight / weight.sum(axis=1, keepdims=True)
    if isinstance(oracle.layout, Code):  # all reports are equally likely but for the ratio
        codes = np.arange(oracle.layout.values)
        weight = np.array(
            [np.where(oracle.supports(codes, v), float(ratio), 1.0) for v in range(d)]
        )
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))
    member = np.array(list(product([False, True], repeat=d)))
    rates = np.where(np.eye(d, dtype=bool), oracle.p, oracle.q)  # of each bit, by the value
    law = np.where(member[None], rates[:, None, :], 1 - rates[:, None, :])
    return np.asarray(law.prod(axis=2))


def histograms(total: int, size: int) -> Iterator[tuple[int, ...]]:
    if size == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in histograms(total - first, size - 1):
            yield (first, *rest)


def shuffled_law(rows: FloatArray, places: list[tuple[int, ...]]) -> FloatArray:
    """The law of the histogram of one report of each person; `rows` has a law for each."""
    law = {(0,) * rows.shape[1]: 1.0}
    for row in rows:
        after: dict[tuple[int, ...], float] = {}
        for histogram, chance in law.items():
            for report, probability in enumerate(row):
                more = list(histogram)
                more[report] += 1
                key = tuple(more)
                after[key] = after.get(key, 0.0) + chance * probability
        law = after
    return np.array([law.get(place, 0.0) for place in places])


def shuffled_laws(oracle: PureOracle, n: int, others: list[int]) -> tuple[FloatArray, FloatArray]:
    """Of all that can come out if one holds 0, and if one holds 1, where the others hold these."""
    laws = channel(oracle)
    places = list(histograms(n, laws.shape[1]))
    first, second = (shuffled_law(laws[[own, *others]], places) for own in (0, 1))
    return first, second


def true_delta(laws: tuple[FloatArray, FloatArray], epsilon: float) -> float:
    """The least δ at ε between two laws, in both directions."""
    first, second = laws
    both = (first - exp(epsilon) * second, second - exp(epsilon) * first)
    return float(max(np.maximum(b, 0).sum() for b in both))


def crowds(d: int, size: int) -> list[list[int]]:
    """Some crowds: all alike, and half and half."""
    alike = [[v] * size for v in range(d)]
    return [*alike, [0] * (size // 2) + [1] * (size - size // 2)]


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize(("spec", "d"), SMALL)
def test_no_crowd_needs_more_than_the_upper_bound_and_an_attack_shows_the_lower(
    spec: str, d: int, epsilon: float
) -> None:
    oracle = pure(spec, epsilon, d)
    reports = channel(oracle).shape[1]
    sizes = [k for k in (2, 3, 6, 12) if comb(k + reports - 1, k) <= MOST_HISTOGRAMS]
    assert sizes
    for n in sizes:
        laws = [shuffled_laws(oracle, n, crowd) for crowd in crowds(d, n - 1)]
        for central in (0.0, 0.05 * epsilon, 0.4 * epsilon, 0.8 * epsilon, 0.99 * epsilon):
            truth = max(true_delta(law, central) for law in laws)
            assert truth <= oracle.blanket.delta(central, n) * (1 + 1e-12)
            assert oracle.distinguishers
            for attack in oracle.distinguishers:
                assert attack.delta(central, n) <= truth * (1 + 1e-6) + 1e-12


def test_no_protocol_needs_more_than_the_bound_for_all() -> None:
    rng = np.random.default_rng(5)
    places = list(histograms(4, 3))
    for local in (0.3, 1.0, 3.0):
        for _ in range(10):  # of three values and three reports, as unlike as ε allows
            rows = np.where(rng.random((3, 3)) < 0.5, exp(local), 1.0) * rng.dirichlet(np.ones(3))
            rows /= rows.sum(axis=1, keepdims=True)
            ratio = float((rows.max(axis=0) / rows.min(axis=0)).max())
            others = rng.integers(0, 3, 3)
            laws = [shuffled_law(rows[[own, *others]], places) for own in (0, 1)]
            for central in (0.1 * log(ratio), 0.6 * log(ratio)):
                truth = true_delta((laws[0], laws[1]), central)
                assert truth <= Blanket.generic(ratio).delta(central, 4) * (1 + 1e-12)


def test_many_people_who_choose_among_few_reports_are_within_both_bounds() -> None:
    oracle = pure("grr", 1.5, 3)
    for n in (9, 12):
        truth = true_delta(shuffled_laws(oracle, n, [2] * (n - 1)), 0.3)
        upper = oracle.blanket.delta(0.3, n)
        assert truth <= upper <= 1.005 * truth  # with a third value the bound is nearly the truth


def exact_positive_part(values: FloatArray, weights: FloatArray, n: int) -> float:
    total = 0.0
    for counts in histograms(n, len(values)):
        chance = lgamma(n + 1) + sum(
            k * log(w) - lgamma(k + 1) for k, w in zip(counts, weights, strict=True)
        )
        total += exp(chance) * max(0.0, float(np.dot(counts, values)))
    return total


ATOMS = [
    (np.array([1.3, -2.1, -0.4, 0.0]), np.array([0.1, 0.15, 0.3, 0.45])),
    (np.array([6.4, -12.5, -0.1]), np.array([0.05, 0.05, 0.9])),
    (np.array([0.71, -0.95]), np.array([0.4, 0.6])),
    (np.array([0.9, -1.0, -0.2]), np.array([0.3, 0.3, 0.4])),
]


def too_small(n: int) -> list[float]:
    """How far the rounded sums lie above the exact ones, relatively; below is negative."""
    pairs = ((positive_part(v, w, n), exact_positive_part(v, w, n)) for v, w in ATOMS)
    return [upper / exact - 1 for upper, exact in pairs]


@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_the_lattice_rounds_upwards_and_little(n: int) -> None:
    assert min(too_small(n)) > -1e-12
    assert max(too_small(n)) < 2e-3


def to_the_nearest(
    values: FloatArray, weights: FloatArray, tilt: float, step: float
) -> "shuffling._Law":
    place = np.rint(values / step).astype(np.int64)
    mass = np.zeros(int(np.ptp(place)) + 1)
    np.add.at(mass, place - place.min(), weights * np.exp(tilt * (place * step - values)))
    return shuffling._Law(step, int(place.min()), mass)


def test_rounding_to_the_nearest_cell_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffling, "_on_lattice", to_the_nearest)
    assert min(min(too_small(n)) for n in (2, 5, 17)) < -1e-6


def narrow(mass: FloatArray) -> slice:
    cumulated = np.cumsum(mass)
    low, high = np.searchsorted(cumulated, [1e-4, cumulated[-1] - 1e-4])
    return slice(int(low), int(high) + 1)


def eleven_deviations(mass: FloatArray) -> slice:
    places, share = np.arange(len(mass)), mass / mass.sum()
    mean = float(share @ places)
    reach = 11 * float(np.sqrt(share @ (places - mean) ** 2))
    return slice(max(0, int(mean - reach)), int(mean + reach) + 2)


def forgetful(window: Callable[[FloatArray], slice]) -> Callable[..., "shuffling._Law"]:
    """A sum that does not add what its window leaves out."""

    def plus(self: "shuffling._Law", other: "shuffling._Law", n: int) -> "shuffling._Law":
        mass = np.convolve(self.mass, other.mass)
        kept, users = window(mass), self.users + other.users
        return shuffling._Law(self.step, self.first + other.first + kept.start, mass[kept], users)

    return plus


def test_what_windows_leave_out_is_added_at_its_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffling, "DROPPED", 2.0)
    assert min(too_small(17)) > -1e-12
    assert max(too_small(17)) > 1e-3  # much was left out


def test_a_window_that_forgets_what_it_leaves_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffling._Law, "plus", forgetful(narrow))
    assert min(too_small(17)) < -1e-6


def test_a_window_of_eleven_standard_deviations_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where jumps are rare and wide, some that decide lie outside, and an attack shows more."""
    oracle = pure("grr", 8.0, 128)
    shown = max(attack.epsilon(10**6, 1e-9) for attack in oracle.distinguishers)
    assert shown <= oracle.blanket.epsilon(10**6, 1e-9)
    monkeypatch.setattr(shuffling._Law, "plus", forgetful(eleven_deviations))
    assert shown > oracle.blanket.epsilon(10**6, 1e-9)


def variation_ratio(ratio: float, d: int, n: int, epsilon: float) -> float:
    """A published bound for GRR: it shows the counts of the two reports at stake, and no others."""
    alpha = 1 / (ratio + d - 1)
    rest, own = 1 - 2 * alpha, 1 - alpha - alpha * ratio
    total = 0.0
    for a, b, c in histograms(n, 3):
        chance = lgamma(n + 1) - lgamma(a + 1) - lgamma(b + 1) - lgamma(c + 1)
        chance += (a + b) * log(alpha) + c * log(rest)
        first, second = (ratio * a + b + own / rest * c), (a + ratio * b + own / rest * c)
        total += exp(chance) * max(0.0, first - exp(epsilon) * second) / n
    return total


def test_enumeration_refutes_the_variation_ratio_bound_for_grr() -> None:
    """δ of shuffled GRR, d = 4, ε₀ = 2, 8 people, ε = 1.5 is 0.0255; that bound says 0.0204."""
    oracle = pure("grr", 2.0, 4)
    truth = true_delta(shuffled_laws(oracle, 8, [2] * 7), 1.5)
    assert variation_ratio(exp(2.0), 4, 8, 1.5) < 0.81 * truth
    assert truth <= oracle.blanket.delta(1.5, 8)


REFERENCE = [  # ε₀, n, oracle, central ε at δ = 1e-6, by an independent program
    ("generic", 1.0, 10_000, 0.04321),
    ("generic", 4.0, 1_000_000, 0.03428),
    ("grr", 1.0, 10_000, 0.006291),
    ("grr", 4.0, 1_000_000, 0.01808),
    ("blh", 2.0, 10_000, 0.07896),
    ("blh", 4.0, 10_000, 0.2849),
    ("rappor", 2.0, 100_000, 0.02534),
    ("oue", 1.0, 1_000_000, 0.002391),
]


@pytest.mark.parametrize(("name", "local", "n", "central"), REFERENCE)
def test_another_program_finds_the_same(name: str, local: float, n: int, central: float) -> None:
    own = name != "generic"
    blanket = pure(name, local, 128).blanket if own else Blanket.generic(exp(local))
    assert blanket.epsilon(n, 1e-6) == pytest.approx(central, rel=1e-3)


NEARLY = 1 + 3e-3  # bounds lie above the truth by less than this, which need not grow evenly
LOCAL, PEOPLE = st.floats(0.05, 5.0), st.integers(2, 10**7)


@given(LOCAL, PEOPLE, st.floats(0.0, 0.95), st.floats(1.0, 20.0), st.sampled_from([None, 3, 64]))
@settings(max_examples=60, deadline=None)
def test_delta_falls_with_people_and_with_the_central_budget_and_grows_with_the_local_one(
    local: float, n: int, share: float, more: float, d: int | None
) -> None:
    def delta(local: float, n: int, central: float) -> float:
        own = Blanket.generic(exp(local)) if d is None else pure("grr", local, d).blanket
        return own.delta(central, n)

    central = share * local
    here = delta(local, n, central) * NEARLY
    assert delta(local, ceil(more * n), central) <= here
    assert delta(local, n, min(more * central, local)) <= here
    assert delta(local / more, n, central) <= here


@given(LOCAL, PEOPLE, st.floats(-12.0, -1.0), st.floats(1.0, 1e3), st.sampled_from([1, 1, 3]))
@settings(max_examples=8, deadline=None)
def test_epsilon_falls_with_delta_and_people_and_never_exceeds_the_local_one(
    local: float, n: int, exponent: float, more: float, rounds: int
) -> None:
    blanket, delta = Blanket.generic(exp(local)), 10.0**exponent
    here = blanket.epsilon(n, delta, rounds)
    assert here <= rounds * local * (1 + 1e-12)
    assert blanket.epsilon(n, min(more * delta, 0.5), rounds) <= here * NEARLY
    assert blanket.epsilon(ceil(more * n), delta, rounds) <= here * NEARLY


def test_rounds_composed_cost_less_than_their_sum_and_more_than_one() -> None:
    blanket = pure("grr", 1.0, 128).blanket
    one, many = blanket.epsilon(10_000, 1e-6), blanket.epsilon(10_000, 1e-6, 52)
    assert one < many < 0.2 * 52 * blanket.epsilon(10_000, 1e-6 / 52)


def test_composed_rounds_hold_against_enumeration() -> None:
    """Two rounds of two people: the law of both shuffles together, written down."""
    oracle = pure("grr", 1.0, 3)
    once = shuffled_laws(oracle, 3, [2, 2])
    first, second = (np.outer(law, law).ravel() for law in once)
    for central in (0.4, 0.8, 1.4):
        truth = true_delta((first, second), central)
        assert oracle.blanket.epsilon(3, truth, 2) >= central * (1 - 1e-9)


def test_a_law_of_losses_is_nowhere_below_the_curve_and_little_above() -> None:
    blanket, n = pure("ss", 2.0, 64).blanket, 1_000
    claimed = blanket._composed(n, 1e-6, 1)
    for epsilon in np.linspace(0, blanket.epsilon(n, 1e-9), 40):
        truth = blanket.delta(float(epsilon), n)
        assert truth <= claimed(float(epsilon)) * NEARLY
        assert claimed(float(epsilon)) <= 1.05 * truth + 1e-9


@pytest.mark.parametrize("spec", ["grr", "oue", "ss", "olh", "hrr", "pgr"])
def test_no_attack_shows_more_than_the_bound_however_many_people(spec: str) -> None:
    for local, n, delta in [
        *((0.5, 10**k, 1e-9) for k in (1, 4)),
        *((3.0, 10**k, 1e-12) for k in (3, 12)),
        (1.0, 10**12, 1e-6),  # so many that ε = 0 is enough
        (8.0, 10**6, 1e-6),
        (12.0, 10**9, 1e-15),
    ]:
        oracle = pure(spec, local, 64)
        upper = oracle.blanket.epsilon(n, delta)
        shown = [attack.epsilon(n, delta) for attack in oracle.distinguishers]
        assert max(shown) <= upper
        for attack, epsilon in zip(oracle.distinguishers, shown, strict=True):
            assert epsilon == 0 or attack.delta(epsilon, n) == pytest.approx(delta, rel=1e-2)


def test_counting_only_reports_that_do_not_support_the_third_value_can_show_more() -> None:
    plain, alone = (a.epsilon(10**6, 1e-6) for a in pure("oue", 4.0, 64).distinguishers)
    assert alone > 1.4 * plain
    plain, alone = (a.epsilon(10**6, 1e-6) for a in pure("oue", 0.5, 64).distinguishers)
    assert plain > alone


def test_tails_of_the_attack_are_those_of_the_sum() -> None:
    """Three-way terms of -1, 0 and 1, added up one by one."""
    m, others = 400, 0.07
    law = np.ones(1)
    for _ in range(m):
        law = np.convolve(law, [others, 1 - 2 * others, others])
    t = np.array([1.0, 5.0, 20.0, 60.0, 90.0, 400.0, 401.0])
    points, tails = Distinguisher(0.4, 0.1, others, others)._at_least(t, m)
    law = np.append(law, 0.0)
    places = m + t.astype(np.int64)
    np.testing.assert_allclose(points, law[places], rtol=1e-9)
    np.testing.assert_allclose(tails, [law[k:].sum() for k in places], rtol=1e-9)
    points, tails = Distinguisher(0.7, 0.3, 0.3, 0.0)._at_least(t + 120, m)
    np.testing.assert_allclose(tails, binom.sf(t + 119, m, 0.3), rtol=1e-7)
    np.testing.assert_allclose(points, binom.pmf(t + 120, m, 0.3), rtol=1e-7)


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        ("n", 1),
        ("n", 2.5),
        ("n", 10**16),
        ("delta", 1.0),
        ("delta", 0.0),
        ("rounds", 0),
        ("rounds", 10**7),
    ],
)
def test_what_no_shuffler_can_do_is_refused(changed: str, value: object) -> None:
    given = {"n": 100, "delta": 1e-6, "rounds": 1} | {changed: value}
    with pytest.raises(InvalidParameter, match=f"`{changed}`"):
        pure("grr", 1.0, 4).shuffled(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("local", "d", "n"), [(1.45, 10**6, 26), (30.0, 3, 10**8), (27.0, 64, 10**7), (37.0, 2, 2)]
)
def test_rare_and_wide_jumps_are_no_error(local: float, d: int, n: int) -> None:
    oracle = pure("grr", local, d)
    for central in (0.0, 1e-9, 1e-6, 0.75 * local, 0.9 * local):
        bounds = [attack.delta(central, n) for attack in oracle.distinguishers]
        assert max(bounds) <= oracle.blanket.delta(central, n) <= 1


def test_an_oracle_that_knows_little_of_itself_gets_what_holds_for_all() -> None:
    other, grr = (build_oracle(spec, epsilon=1.0, d=16) for spec in ("she", "grr"))
    found = other.shuffled(10_000, 1e-6)
    assert found.epsilon == pytest.approx(0.0432, rel=2e-3)
    assert found.lower <= found.epsilon < found.local
    assert grr.shuffled(10_000, 1e-6).epsilon < found.epsilon


def test_what_cannot_be_built_keeps_no_goal_and_a_large_goal_needs_no_shuffler() -> None:
    def up_to_one(epsilon: float) -> Blanket | None:
        return pure("grr", epsilon, 8).blanket if epsilon <= 1 else None

    assert local_epsilon(up_to_one, 0.1, 10**6, 1e-6, 1) == pytest.approx(1.0, rel=2e-3)
    assert local_epsilon(lambda e: pure("grr", e, 8).blanket, 20.0, 10, 1e-6, 1) == pytest.approx(
        20.0
    )
    assert pure("grr", 1.0, 8).shuffled(np.int64(1_000), 1e-6).n == 1_000  # type: ignore[arg-type]


def test_an_attack_that_sees_no_third_value_still_exists() -> None:
    attack = Distinguisher(0.7, 0.3, 0.3, 0.0)
    assert 0 < attack.delta(0.1, 1_000) < 0.4
    assert attack.delta(inf, 1_000) == 0
    assert 0 < attack.epsilon(1_000, 1e-6) < log(0.7 / 0.3)


@pytest.mark.parametrize(("spec", "n", "local"), [("ss", 10**4, 2.32), ("grr", 10**5, 4.52)])
def test_the_largest_local_budget_for_a_central_goal_keeps_it(
    spec: str, n: int, local: float
) -> None:
    found = local_epsilon(lambda e: pure(spec, e, 128).blanket, 0.1, n, 1e-6, 1)
    assert found == pytest.approx(local, rel=0.03)  # whole numbers k make steps
    assert pure(spec, found, 128).blanket.delta(0.1, n) <= 1e-6
    several = local_epsilon(lambda e: pure(spec, e, 128).blanket, 0.1, n, 1e-6, rounds=4)
    assert 0.025 < several < found
    assert pure(spec, several, 128).blanket.epsilon(n, 1e-6, 4) <= 0.1


def test_people_read_the_local_budget_first_and_nothing_is_rounded_to_the_wrong_side() -> None:
    said = str(Shuffled(0.0240001, 0.0219999, 1.0, 1e-6, 10_000))
    assert said == (
        "Locally ε = 1, whoever looks. If a shuffler that you trust mixes at least 10,000 honest "
        "reports: central ε ≤ 0.0241 at δ = 1e-6 (an attack shows 0.0219)."
    )
    assert "not below 1/n" in str(Shuffled(0.02, 0.01, 1.0, 1e-3, 10_000))
    assert "no smaller central ε" in str(Shuffled(1.0, 0.5, 1.0, 1e-6, 2))
    assert str(Shuffled(0.2, 0.01, 1.0, 1e-6, 2, 4)).startswith("4 collections from the same peo")


def test_a_claim_needs_as_many_reports_as_it_says_and_none_with_an_identifier() -> None:
    claim = Shuffled(0.02, 0.0, 1.0, 1e-6, 1_000)
    assert claim.said_of(1_000, 0) == str(claim)
    assert "only 999 reports arrived. The local ε does." in claim.said_of(999, 0)
    assert "identifiers name 1 of the reports. The local ε does." in claim.said_of(1_000, 1)
