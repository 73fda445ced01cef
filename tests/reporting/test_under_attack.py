import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3.attacks.mga import MGA
from ldp3.attacks.targets import TargetShare
from ldp3.reporting.filtering import IS_SHARE, clean
from ldp3.reporting.findings import Findings
from ldp3.reporting.page import page
from ldp3.reporting.page_data import page_data
from ldp3.reporting.under_attack import UnderAttack
from ldp3.results.table import Results
from tests.reporting.examples import DATA


@pytest.fixture(scope="module")
def results() -> Results:
    return ldp3.benchmark(
        DATA, [1.0, 2.0], ["grr", "oue", "ss"], "norm_sub",
        ["l1", "ndcg(k=3)", TargetShare(("bottom:2",))], repeats=3, attacks=["ria", "mga"],
        fake_users=200, targets="bottom:2",
    )  # fmt: skip


@pytest.fixture(scope="module")
def attacked(results: Results) -> UnderAttack:
    return UnderAttack(results, Findings(clean(results)))


def test_the_rest_of_the_page_is_without_attacks(attacked: UnderAttack) -> None:
    assert attacked.found.metrics == ["l1", "ndcg(k=3)"]
    assert set(attacked.found.results.table["attack"]) == {"none"}


def test_of_all_attacks_the_one_that_harms_most_counts(
    results: Results, attacked: UnderAttack
) -> None:
    rows = {(r["metric"], r["epsilon"], r["protocol"], r["method"]): r
            for r in attacked.worst().to_dicts()}  # fmt: skip
    assert len(rows) == 2 * 2 * 3 * 2
    for (metric, epsilon, protocol, method), row in rows.items():
        own = results.table.filter(metric=metric, epsilon=epsilon, protocol=protocol, method=method)
        means = {a: own.filter(attack=a)["value"].mean() for a in ("none", "ria", "mga")}
        worst = (max if metric == "l1" else min)(means["ria"], means["mga"])  # type: ignore[type-var]
        assert means[row["attack"]] == worst
        assert (row["mean"], row["clean"]) == pytest.approx((worst, means["none"]), rel=1e-12)


def test_gains_are_what_the_targets_rose_by(results: Results, attacked: UnderAttack) -> None:
    assert (attacked.fakes, attacked.share(200)) == ([200], 200 / 2200)
    shares = results.table.filter(IS_SHARE, epsilon=1.0, protocol="oue", method="none")
    mga, none = (shares.filter(attack=a)["value"].mean() for a in ("mga", "none"))
    (row,) = (
        r for r in attacked.gains()
        if (r["epsilon"], r["attack"], r["protocol"], r["method"]) == (1.0, "mga", "oue", "none")
    )  # fmt: skip
    assert row["gain"] == pytest.approx(mga - none)  # type: ignore[operator]


def test_gains_from_mean_estimates_are_the_same(results: Results, attacked: UnderAttack) -> None:
    bare = replace(results, table=results.table.filter(pl.col("metric") == "l1"))
    again = UnderAttack(bare, Findings(clean(bare))).gains()
    key = ("epsilon", "attack", "protocol", "method")
    measured = {tuple(row[k] for k in key): row["gain"] for row in attacked.gains()}
    assert {tuple(row[k] for k in key): row["gain"] for row in again} == pytest.approx(
        measured, abs=1e-9
    )


def test_lines_are_the_formula_of_each_attack(attacked: UnderAttack) -> None:
    lines = {(r["attack"], r["protocol"], r["epsilon"]): r for r in attacked.formulas()}
    oracle = ldp3.oracle("oue", 1.0, DATA.d)
    codes = tuple(sorted(map(int, np.argsort(DATA.histogram, kind="stable")[:2])))
    gain = MGA(codes, DATA.histogram).expected_gain(oracle, 200)  # type: ignore[arg-type]
    line = lines["mga", "oue", 1.0]
    assert line["gain"] / line["share"] == pytest.approx(gain / attacked.share(200))  # type: ignore[operator]


def test_weights_fall_and_guesses_rise(attacked: UnderAttack) -> None:
    weights = [row["weight"] for row in attacked.weights() if row["protocol"] == "oue"]
    assert weights == sorted(weights, reverse=True)
    assert sum(row["ran"] for row in attacked.weights()) == 2 * 3
    guessed = [r["success"] for r in attacked.successes()
               if r["protocol"] == "oue" and r["epsilon"] == 1.0]  # fmt: skip
    assert len(guessed) == 7
    assert guessed == sorted(guessed)
    subsets = [r for r in attacked.successes() if r["protocol"] == "ss" and r["epsilon"] == 1.0]
    assert [row["reports"] for row in subsets if not row["simulated"]] == [1]
    seen = [row["success"] for row in subsets]
    assert len(seen) == 7  # the others are simulated: 4,000 people, five standard errors each
    assert all(b > a - 10 * 0.5 / 4_000**0.5 for a, b in itertools.pairwise(seen))


def test_several_numbers_of_fake_users_are_points_beside_one_line() -> None:
    ldp3_results = ldp3.benchmark(
        DATA, 1.0, ["oue", "grr"], "norm_sub", ["l1", TargetShare(("bottom:2",))], repeats=2,
        attacks=["mga", "steer"], fake_users=["1%", "5%", 200], targets="bottom:2",
    )  # fmt: skip
    one = UnderAttack(ldp3_results, Findings(clean(ldp3_results)))
    assert one.attacks == ["mga", "steer"]
    assert one.fakes == [20, 105, 200]
    for spec in one.attacks:
        raw = [r for r in one.gains() if (r["attack"], r["protocol"], r["method"])
               == (spec, "oue", "none")]  # fmt: skip
        assert [round(r["share"], 4) for r in raw] == [0.0099, 0.0499, 0.0909]
    lines = [r for r in one.formulas() if r["protocol"] == "oue"]
    assert sum(r["attack"] == "mga" for r in lines) == 2
    assert sum(r["attack"] == "steer" for r in lines) > 2  # no straight line
    assert "20, 105, 200 fake users (0.99%, 4.99%, 9.09% of all)" in page(ldp3_results)


def test_a_table_alone_shows_what_it_can(results: Results) -> None:
    bare = Results(results.table.filter(~IS_SHARE))
    found = Findings(clean(bare))
    given = page_data(found, UnderAttack(bare, found))["attacked"]
    assert given["gains"]["rows"] == given["formulas"]["rows"] == []
    assert len(given["worst"]["rows"]) == 24
    assert "fake users (" in page(bare)
