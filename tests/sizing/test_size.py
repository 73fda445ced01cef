"""Users, ε, error: give two, get the third."""

import json
from math import ceil
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy import stats

import ldp3
from ldp3.errors import LDPError
from ldp3.sizing.goals import COLLECTIONS, OrderGoal, SumGoal, ValueGoal, single
from ldp3.sizing.solving import least_epsilon, least_users

VALUE: dict[str, Any] = {"domain_size": 229, "value_share": 0.05}
FAST = ["ss", "olh", "grr"]


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
    assert "changes the odds between any two values by a factor of at most e^1 = 2.718" in text
    assert "spend ε = 4 if every report is fresh" in text


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


def test_an_order_is_right_as_often_as_it_is_counted() -> None:
    f = np.array([0.4, 0.3, 0.2, 0.05, 0.05])
    goal = OrderGoal(f, 0.95, 0, 3)
    assert not goal._wrong(f)
    assert not goal._wrong(np.array([0.4, 0.3, 0.2, 0.0, 0.1]))  # equal ones in any order
    assert goal._wrong(np.array([0.4, 0.1, 0.2, 0.0, 0.0]))
    assert goal._wrong(np.array([0.4, 0.3, 0.2, 0.0, 0.25]))


def test_the_users_for_an_order_give_it_as_often_as_asked() -> None:
    data = ldp3.load("zipf(d=8, n=10_000)")
    found = ldp3.size(epsilon=2, data=data, goal="top2", protocols="oue")
    oracle, goal = ldp3.oracle("oue", 2.0, 8), OrderGoal(data.frequencies, 0.95, 7, 2)
    wrong = goal.error(oracle, found.best.users) * COLLECTIONS  # with another seed
    most = COLLECTIONS * 0.05 + 5 * np.sqrt(2 * COLLECTIONS * 0.05)  # noise of both, 5 σ
    assert wrong <= most
    assert found.simulated
    assert [option.protocol for option in found.options] == ["oue"]


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


def test_the_search_finds_the_first_number_that_is_enough() -> None:
    for wanted in (0.5, 0.011, 3e-5):
        n = least_users(lambda n: n**-0.5, wanted, rough=False)
        assert n == ceil(wanted**-2 * (1 - 1e-12))
    assert least_users(lambda n: 4 * n**-0.3, 0.01, rough=True) == 472_000_000
    assert least_epsilon(lambda e: 1 / e, 0.5) == pytest.approx(2, rel=1e-3)
    assert least_epsilon(lambda e: 1.0, 0.5) == float("inf")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"epsilon": 1}, "two of `epsilon`, `population` and `error`"),
        ({"epsilon": 1, "error": 0.01, "population": 9}, "got 3 of three"),
        ({"epsilon": 1, "error": -1}, "`error`: must be a number > 0"),
        ({"epsilon": 1, "error": 0.1, "domain_size": None}, "`domain_size`.*`data`"),
        ({"epsilon": 1, "error": 0.1, "goal": "best"}, "`goal` is value, l1 or top10"),
        ({"epsilon": 1, "goal": "top3"}, "needs `data`"),
        ({"epsilon": 1, "error": 0.1, "goal": "l1", "method": "norm_sub"}, "give `data`"),
        ({"epsilon": 1, "error": 0.1, "value_share": 1.5}, "`value_share`.*between 0 and 1"),
        ({"epsilon": 1, "error": float("inf")}, "`error`: must be a number > 0"),
        ({"epsilon": 1, "population": 10**30}, "`population`.*10¹⁵"),
        ({"epsilon": 1, "error": 0.1, "domain_size": 10**11}, "`domain_size`.*2²⁴"),
        ({"population": 5, "error": 1e-4}, "No ε has"),
        ({"epsilon": 0.001, "error": 1e-9}, "No number of users"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(LDPError, match=said) as refused:
        ldp3.size(**{"domain_size": 229, "protocols": "oue", **given})
    assert "\n" not in str(refused.value)


def test_json_holds_everything_but_functions() -> None:
    found = json.loads(ldp3.size(1, 1_000, domain_size=4, protocols=FAST).render("json"))
    assert found["best"] == found["options"][0]
    assert found["asked"] == "error"
    assert "least_error" not in found


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_figure_is_drawn(tmp_path: Path, kind: str) -> None:
    from ldp3.reporting.planning import draw

    found = ldp3.size(1, 1_000, domain_size=4, protocols="oue")
    draw(found, tmp_path / f"a.{kind}")
    assert (tmp_path / f"a.{kind}").stat().st_size > 5_000
    with pytest.raises(LDPError, match=r"\.svg, \.pdf or \.png"):
        draw(found, tmp_path / "a.jpg")
