"""Users, ε, error: give two, get the third."""

import json
from dataclasses import replace
from math import ceil
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy import stats

import ldp3
from ldp3.arrays import apportion
from ldp3.errors import LDPError
from ldp3.sizing.goals import OrderGoal, SumGoal, ValueGoal, single
from ldp3.sizing.search import least_epsilon, least_users

VALUE: dict[str, Any] = {"domain_size": 229, "value_share": 0.05}
FAST = ["ss", "olh", "grr"]
ALPHA = 1e-6


@pytest.mark.parametrize(("spec", "users"), [("ss(k=62)", 141_791), ("olh", 144_155)])
def test_the_normal_law_gives_the_known_numbers_and_the_intervals_nearly_these(
    spec: str, users: int
) -> None:
    oracle, z = ldp3.oracle(spec, 1.0, 229), NormalDist().inv_cdf(0.975)
    assert ceil(oracle.variance(1, 0.05) * z**2 / 0.01**2) == users  # type: ignore[attr-defined]
    found = ldp3.size(epsilon=1, error=0.01, protocols=spec, **VALUE)
    assert users < found.best.users < 1.01 * users


def test_the_interval_is_the_one_that_an_estimate_prints() -> None:
    n = ldp3.size(epsilon=1, error=0.01, protocols="olh", **VALUE).best.users
    oracle = ldp3.oracle("olh", 1.0, 229)
    counts = np.full(229, round(n * oracle.q))  # type: ignore[attr-defined]
    counts[0] = round(n * (oracle.q + 0.05 * (oracle.p - oracle.q)))  # type: ignore[attr-defined]
    low, high = oracle.estimate(ldp3.Tally(counts, n)).confidence_interval(0.95)
    assert (high - low)[0] / 2 == pytest.approx(0.01, rel=1e-3)


def test_the_three_answers_belong_together() -> None:
    users = ldp3.size(epsilon=1, error=0.01, protocols=FAST, **VALUE).best
    error = ldp3.size(epsilon=1, population=users.users, protocols=FAST, **VALUE).best
    epsilon = ldp3.size(population=users.users, error=0.01, protocols=FAST, **VALUE).best
    assert users.protocol == error.protocol == epsilon.protocol == "ss"
    assert error.error == pytest.approx(0.01, rel=1e-3)
    assert epsilon.epsilon == pytest.approx(1, rel=3e-3)


def test_options_come_from_best_to_worst() -> None:
    found = ldp3.size(epsilon=1, error=0.01, protocols=FAST, **VALUE)
    assert [option.protocol for option in found.options] == FAST
    users = [option.users for option in found.options]
    assert users == sorted(users)


def test_half_the_answers_need_twice_the_people_and_weekly_reports_many_more() -> None:
    found = ldp3.size(epsilon=1, error=0.01, protocols="olh", rounds=4, **VALUE)
    assert found.half is not None
    assert found.half.users == 2 * found.best.users
    assert found.repeated is not None
    assert found.repeated.epsilon == 0.25
    again = ldp3.size(epsilon=0.25, error=0.01, protocols="olh", **VALUE)
    assert found.repeated.users == again.best.users
    text = found.render()
    assert "ask 289,100 people" in text
    first, then = (
        text.index("4 collections: ask each person in one of them"),
        text.index("The same"),
    )
    assert first < then
    assert f"and takes {4 * found.best.users:,} people in all" in text
    assert "changes the odds between any two values by a factor of at most e^1 = 2.718" in text
    assert "The same people every time spend ε = 4 if every report is fresh" in text


@pytest.mark.parametrize("spec", ["oue", "ss", "hr"])
def test_l1_by_theory_is_the_mean_of_simulated_collections(spec: str) -> None:
    data = ldp3.load("zipf(d=32, n=50_000)")
    oracle, goal = ldp3.oracle(spec, 1.0, 32), SumGoal(data.frequencies, 0.95, 0)
    sums = []
    for run in range(200):
        tally = oracle.simulate(data.histogram, ldp3.stream(0, "l1", run))
        sums.append(np.abs(oracle.estimate(tally).frequencies - data.frequencies).sum())
    limit = -stats.t.ppf(0.5e-6, 199) * np.std(sums, ddof=1) / np.sqrt(200)
    assert abs(np.mean(sums) - goal.error(oracle, data.n)) < limit


class Pushed(OrderGoal):
    """A goal whose noise is given."""

    noise_of: Any = None

    def _noise(self, oracle: Any) -> Any:
        return self.noise_of


def test_an_order_is_right_from_so_many_users_on_and_equal_values_come_in_any_order() -> None:
    goal = Pushed(np.array([0.4, 0.3, 0.2, 0.05, 0.05]), 0.95, 0, 3)
    pushes = [[0, 0, 0, 9, 0], [0, 1, 0, 0, 0], [-1, 0, 1, 0, 0], [0, 0, 0, -5, 5]]
    object.__setattr__(goal, "noise_of", np.array(pushes, dtype=float))
    # 9/0.15 by the fourth, 1/0.1 by the second, 2/0.2 by the third, 5/0.15 by the last
    assert goal._needed(None) == pytest.approx([60, 10, 10, 5 / 0.15])  # type: ignore[arg-type]
    equal = Pushed(np.full(4, 0.25), 0.95, 0, 2)
    object.__setattr__(equal, "noise_of", np.eye(4))
    assert equal._needed(None).max() == 0  # type: ignore[arg-type]


@pytest.mark.parametrize("spec", ["grr", "ss", "oue", "pgr", "hrr"])
def test_an_order_is_wrong_as_often_as_in_simulated_collections(spec: str) -> None:
    """Also with so few values that their noise varies together: without that, pgr fails."""
    n, runs, oracle = 6_000, 1_500, ldp3.oracle(spec, 0.5, 3)
    users = apportion(np.array([0.4, 0.33, 0.27]), n)
    goal = OrderGoal(users / n, 0.95, 0, 2)
    wrong = 0
    for run in range(runs):
        first, second, third = oracle.estimate(
            oracle.simulate(users, ldp3.stream(0, "order", run))
        ).frequencies
        wrong += not first > second > third
    told = goal.error(oracle, n)
    assert 0.05 < told < 0.95
    shares = np.array([1 / runs, 1 / 2**14]) * told * (1 - told)
    assert abs(wrong / runs - told) < -stats.norm.ppf(0.5e-6) * np.sqrt(shares.sum())


@pytest.mark.slow
def test_every_protocol_is_compared_for_an_order_and_after_post_processing() -> None:
    given: dict[str, Any] = {"epsilon": 1, "data": "zipf(d=16, n=9_999)", "protocols": FAST}
    order = ldp3.size(goal="top2", **given)
    refined = ldp3.size(goal="l1", error=0.3, method="norm_sub", **given)
    for found in (order, refined):
        assert {option.protocol for option in found.options} == set(FAST)
        assert found.simulated
        assert found.best.protocol != "grr"
    assert "Hardest to tell apart: values that" in order.render()
    assert "simulated collections for each protocol: an error is known to about ±" in str(refined)


def test_an_order_that_draws_cannot_tell_is_refused() -> None:
    with pytest.raises(LDPError, match=r"wrong in 0\.1%"):
        ldp3.size(1, error=1e-6, data="zipf(d=8, n=999)", goal="top2", protocols="oue")


def test_post_processing_needs_fewer_users() -> None:
    raw = ldp3.size(epsilon=1, error=0.3, data="zipf(d=64, n=9_999)", goal="l1", protocols="oue")
    refined = ldp3.size(
        epsilon=1, error=0.3, data="zipf(d=64, n=9_999)", goal="l1", protocols="oue",
        method="norm_sub",
    )  # fmt: skip
    assert refined.best.users < raw.best.users


def test_a_value_that_nobody_holds_has_an_interval_above_it_only() -> None:
    goal, oracle = ValueGoal(single(0.0, 16), 0.95, 0), ldp3.oracle("oue", 1.0, 16)
    held = ValueGoal(single(0.5, 16), 0.95, 0)
    assert 0.5 < goal.error(oracle, 1_000) / held.error(oracle, 1_000) < 1.5


PROTOCOLS = ["grr", "rappor", "oue", "blh", "olh", "ss", "hrr", "hr", "pgr"]
SHOWN = [(1.0, 8), (8.0, 32)]  # many people, and so few that counts are whole; others are slow


@pytest.mark.parametrize("spec", PROTOCOLS)
@pytest.mark.parametrize(
    ("epsilon", "d"),
    [
        pytest.param(epsilon, d, marks=[] if (epsilon, d) in SHOWN else pytest.mark.slow)
        for epsilon in (1.0, 4.0, 6.0, 8.0, 10.0)
        for d in (8, 32)
    ],
)
def test_so_many_users_have_intervals_as_short_as_stated(spec: str, epsilon: float, d: int) -> None:
    """Measured on collections, of n users and of some more: 90 cells."""
    found = ldp3.size(epsilon, error=0.02, domain_size=d, value_share=0.1, protocols=spec).best
    oracle, goal = ldp3.oracle(spec, epsilon, d), ValueGoal(single(0.1, d), 0.95, 0)
    assert found.users >= 10
    for more in (0, 1, 3, 8, 20, found.users // 10, found.users // 2):
        assert goal.error(oracle, found.users + more) <= 0.02 * 1.001
    halves = []
    for run in range(40):
        users = apportion(goal.frequencies, found.users)
        made = oracle.estimate(oracle.simulate(users, ldp3.stream(0, "half", run)))
        low, high = (end[0] for end in made.confidence_interval(0.95))
        halves.append((high - low) / 2)
    limit = -stats.t.ppf(ALPHA / 90, 39) * np.std(halves, ddof=1) / np.sqrt(40)
    # counts are whole: intervals of few users are as wide as their neighbours', and one holder
    assert np.mean(halves) < 0.02 + limit + 0.5 / found.users


FEW = [
    ("zipf(s=1.1, d=8, n=10_000)", 5.0, "top2", ["grr", "pgr", "hr", "rappor"]),
    ("zipf(s=1.5, d=16, n=10_000)", 8.0, "top3", ["grr", "oue"]),
    ("spike(d=32, n=10_000)", 5.0, "top1", ["grr", "oue"]),
]


@pytest.mark.parametrize(("data", "epsilon", "goal", "protocols"), FEW)
def test_few_users_get_an_order_right_as_often_as_stated(
    data: str, epsilon: float, goal: str, protocols: list[str]
) -> None:
    """By collections that the search did not see."""
    found = ldp3.size(epsilon, data=data, goal=goal, protocols=protocols)
    sample, top, runs = ldp3.load(data), int(goal[3:]), 600
    order = np.argsort(-sample.frequencies, kind="stable")
    for option in found.options:
        oracle = ldp3.oracle(option.protocol, epsilon, sample.d)
        users, wrong = apportion(sample.frequencies, option.users), 0
        for run in range(runs):
            made = oracle.estimate(oracle.simulate(users, ldp3.stream(9, "fresh", run)))
            f = made.frequencies[order]
            wrong += any(f[i] <= f[i + 1 :].max() for i in range(top))
        assert wrong <= stats.binom.isf(ALPHA / 9, runs, 0.05)


def test_the_value_is_the_one_of_the_share_that_is_given_though_others_are_more_frequent() -> None:
    found = ldp3.size(1, error=0.05, domain_size=4, value_share=0.1, protocols="oue")
    assert found.share == 0.1


def test_one_user_is_one_user() -> None:
    found = ldp3.size(8, error=0.99, domain_size=4, protocols="grr")
    assert found.best.users == 1
    assert found.render().startswith("1 person is enough, with GRR: it tells a value nobody holds")


def test_the_search_finds_the_first_number_that_is_enough() -> None:
    for wanted in (0.5, 0.011, 3e-5):
        n = least_users(lambda n: n**-0.5, wanted)
        assert n == ceil(wanted**-2 * (1 - 1e-12))
    assert least_users(lambda n: 4 * n**-0.3, 0.01, 0.005) == pytest.approx(471.2e6, rel=0.006)
    assert least_epsilon(lambda e: e >= 2) == pytest.approx(2, rel=1e-3)
    assert least_epsilon(lambda e: False) == float("inf")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"epsilon": 1}, "two of `epsilon`, `population` and `error`"),
        ({"epsilon": 1, "error": 0.01, "population": 9}, "got 3 of three"),
        ({"epsilon": 1, "error": -1}, "`error`: must be a number > 0"),
        ({"epsilon": 1, "error": 0.1, "domain_size": None}, "Give `data`.*`domain_size`"),
        ({"epsilon": 1, "error": 0.1, "goal": "best"}, "`goal` is value, mean, above:60 "),
        ({"epsilon": 1, "goal": "top3"}, "needs `data`"),
        ({"epsilon": 1, "error": 0.1, "goal": "l1", "method": "norm_sub"}, "give `data`"),
        ({"epsilon": 1, "error": 0.1, "value_share": 1.5}, "`value_share`.*between 0 and 1"),
        ({"epsilon": 1, "error": float("inf")}, "`error`: must be a number > 0"),
        ({"epsilon": 1, "population": 10**30}, "`population`.*10¹⁵"),
        ({"epsilon": 1, "error": 0.1, "domain_size": 10**11}, "`domain_size`.*2²⁴"),
        ({"population": 5, "error": 1e-4}, "No ε has"),
        ({"epsilon": 0.001, "error": 1e-9}, "No number of people"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(LDPError, match=said) as refused:
        ldp3.size(**{"domain_size": 229, "protocols": "oue", **given})
    assert "\n" not in str(refused.value)


def test_words_fit_the_terminal_and_tables_keep_digits() -> None:
    found = ldp3.size(1, 100_000, domain_size=229, protocols=["oue", "olh"])
    lines = found.render(width=60).split("\n")
    assert max(map(len, lines)) <= 60
    assert "a value nobody holds" in found.render()
    assert "± 1.19 percentage points" in found.render()


def test_json_holds_everything() -> None:
    found = json.loads(ldp3.size(1, 1_000, domain_size=4, protocols=FAST).render("json"))
    assert found["best"] == found["options"][0]
    assert found["asked"] == "error"


def test_people_for_a_mean_in_the_unit_of_the_values() -> None:
    law = np.exp(-((np.arange(60) - 20) ** 2) / 100)
    histogram = ldp3.stream(3).multinomial(50_000, law / law.sum())
    data = ldp3.Dataset("minutes", ldp3.Bins(list(range(0, 121, 2))), histogram)
    found = ldp3.size(1.0, error=1.0, data=data, goal="mean")
    assert found.best.protocol == "sw"
    assert "the mean to ± 1 at 95 % confidence" in found.render()
    # as wide as the interval of a collection of so many
    oracle, users = ldp3.oracle("sw", epsilon=1.0, d=60), apportion(histogram, found.best.users)
    made = oracle.estimate(oracle.simulate(users, ldp3.stream(4)))
    mean = replace(made, domain=data.domain).mean()
    assert (mean.high - mean.low) / 2 == pytest.approx(1.0, rel=0.01)
    again = ldp3.size(1.0, population=found.best.users, data=data, goal="mean", protocols="sw")
    assert again.best.error == pytest.approx(1.0, rel=1e-4)


def test_people_for_a_share_are_those_whose_interval_is_as_wide() -> None:
    data = load_numbers()
    found = ldp3.size(1.0, error=0.02, data=data, goal="above:-20", protocols="sw")
    other = ldp3.size(1.0, error=0.02, data=data, goal="Above :-20", protocols="sw")
    assert other.best.users == found.best.users  # the sign is not a hyphen in a name
    with pytest.raises(LDPError, match="No bin lies from 500 on"):
        ldp3.size(1.0, error=0.02, data=data, goal="above:500", protocols="sw")
    with pytest.raises(LDPError, match="'2024-07-02' is not a number"):
        ldp3.size(1.0, error=0.02, data=data, goal="above:2024-07-02", protocols="sw")
    assert "the share of people from -20 on to ± 2 percentage points at 95 %" in found.render()
    oracle = ldp3.oracle("sw", epsilon=1.0, d=data.d)
    users = data.scaled(found.best.users).histogram
    made = oracle.estimate(oracle.simulate(users, ldp3.stream(0)))
    share = replace(made, domain=data.domain).share(above=-20)
    assert (share.high - share.low) / 2 == pytest.approx(0.02, rel=0.01)
    between = ldp3.size(1.0, 10_000, data=data, goal="between:-30:40", protocols="sw")
    assert "for the share of people from -30 to 40" in between.render()
    with pytest.raises(LDPError, match="-21 lies inside a bin"):
        ldp3.size(1.0, error=0.02, data=data, goal="below:-21")
    with pytest.raises(LDPError, match="goes by an order"):
        ldp3.size(1.0, error=0.02, data="flights", goal="below:21")


def test_dates_are_asked_as_dates_and_their_mean_is_known_to_days() -> None:
    data = ldp3.Dataset("year", ldp3.Bins([19723, 19905, 20089], dates=True), np.array([400, 600]))
    half = ldp3.size(1.0, error=0.02, data=data, goal="above:2024-07-01", protocols="sw")
    assert "the share of people from 2024-07-01 on to ± 2" in half.render()
    mean = ldp3.size(1.0, error=1.0, data=data, goal="mean", protocols="sw")
    assert "the mean to ± 1 day at" in mean.render()
    assert "± 2 days" in ldp3.size(1.0, error=2, data=data, goal="mean", protocols="sw").render()


def load_numbers() -> ldp3.Dataset:
    edges = np.linspace(-50, 110, 17)
    law = np.exp(-(((edges[:-1] - 20) / 40) ** 2))
    return ldp3.Dataset("numbers", ldp3.Bins(edges.tolist()), np.rint(1000 * law).astype(np.int64))


def test_a_mean_is_of_numbers_and_of_protocols_that_know_their_covariance() -> None:
    with pytest.raises(LDPError, match="A mean is of numbers in order"):
        ldp3.size(1.0, error=1.0, data="flights", goal="mean")
    with pytest.raises(LDPError, match="HR does not say how the errors"):
        ldp3.size(1.0, error=1.0, domain_size=10, goal="mean", protocols="hr")


def test_single_values_are_not_asked_of_protocols_that_go_by_an_order() -> None:
    assert "sw" not in {o.protocol for o in ldp3.size(1.0, error=0.01, domain_size=9).options}
