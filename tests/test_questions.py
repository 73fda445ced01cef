"""Means, quantiles and shares: by hand, refused if meaningless, and right as often as said."""

from dataclasses import replace
from datetime import date
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import ldp3
from ldp3 import Bins, Integers, Labels, stream
from ldp3.errors import InvalidData, InvalidParameter, LDPError
from ldp3.noise import Support
from ldp3.types import Estimate

HALVES = Bins([0, 10, 20, 40])
INDEPENDENT = Support(p=0.5, q=0.25, both=(0.125, 0.0625))


YEAR = Bins([19723, 19754, 19905, 20089], dates=True)  # 2024, cut on February 1 and July 1
GRADES = Labels(["low", "mid", "high"], ordered=True)


def known(domain: ldp3.Domain | None = HALVES, noise: Support = INDEPENDENT) -> Estimate:
    return replace(Estimate.of(np.array([0.5, 0.25, 0.25]), 300, noise), domain=domain)


def test_an_edge_is_known_by_the_digits_that_were_printed() -> None:
    thirds = known(Bins([0, 100 / 7, 200 / 7, 100]))
    with pytest.raises(InvalidParameter, match=r"take 14\.2857 or 28\.5714"):
        thirds.share(above=20)
    assert thirds.share(above=14.2857).value == thirds.share(above=100 / 7).value

    large = known(Bins([1_000_000, 1_000_001, 1_000_002, 1_000_003]))
    assert large.share(above=1_000_002).value == pytest.approx(0.25)  # not the first that is near
    with pytest.raises(InvalidParameter, match="take 1000001 or 1000002"):
        large.share(above=1_000_001.4)
    with pytest.raises(InvalidParameter, match=r"take 20\.$"):  # from infinity on is nobody
        known(Bins([0, 10, 20, np.inf])).share(above=500)


def test_dates_and_grades_are_asked_and_told_as_people_write_them() -> None:
    year, grades = known(YEAR), known(GRADES)
    july = year.share(above="2024-07-01")
    assert july.value == year.share(above=date(2024, 7, 1)).value == pytest.approx(0.25)
    assert str(year.quantile(0.5)) == "2024-02-01 (2024-01-01 to 2024-07-01)"
    assert repr(year.mean()).startswith("2024-04-13 (")
    assert str(grades.quantile(0.6)) == "mid (low to high)"
    assert grades.share(above="mid").value == pytest.approx(0.5)


def test_a_mean_by_hand() -> None:
    # middles 5, 15, 30; their mean 16⅔ is taken off; n·Var = 3 + f at p = ½, q = ¼
    mean, apart = known().mean(), np.array([5, 15, 30]) - 50 / 3
    variance = (apart**2 @ (3 + np.array([0.5, 0.25, 0.25]))) / 300
    assert mean.value == pytest.approx(0.5 * 5 + 0.25 * 15 + 0.25 * 30)
    assert mean.std == pytest.approx(np.sqrt(variance))
    assert mean.high - mean.value == pytest.approx(1.959964 * np.sqrt(variance), rel=1e-6)


def test_one_place_that_noise_lifted_is_no_quantile() -> None:
    # cumulated 0.2, 0.95, 0.55, 0.8, 1: the second and third are 0.75 together
    shares = np.array([0.2, 0.75, -0.4, 0.25, 0.2])
    line = Estimate.of(shares, 300, INDEPENDENT)
    assert line.quantile(0.9).value == 4
    assert line.quantile(0.7).value == 1


def test_who_gives_no_answer_is_left_out_of_a_mean() -> None:
    # 0.5 below 1, 0.25 from 1 to 2, and 0.25 without an answer
    some = known(Bins([0, 1, 2], other="no answer"))
    mean = some.mean()
    assert mean.value == pytest.approx((0.5 * 0.5 + 0.25 * 1.5) / 0.75)
    assert mean.low < mean.value < mean.high
    assert some.share(above=1).value == pytest.approx(1 / 3)
    assert some.quantile(0.5).value == pytest.approx(0.75)


def test_the_mean_among_those_who_answer_lies_in_its_interval_as_often_as_said() -> None:
    histogram, runs = np.array([300, 500, 200, 1_000]), 200
    oracle, domain = ldp3.oracle("grr", epsilon=1.0, d=4), Bins([0, 10, 20, 40], other="none")
    truth = (300 * 5 + 500 * 15 + 200 * 30) / 1_000
    held = 0
    for run in range(runs):
        found = oracle.estimate(oracle.simulate(histogram, stream(run, "answered")))
        mean = replace(found, domain=domain).mean()
        held += mean.low <= truth <= mean.high
    assert binom.ppf(1e-6, runs, 0.95) <= held


def test_shares_by_hand() -> None:
    assert known().share(above=10).value == pytest.approx(0.5)
    assert known().share(below=20).value == pytest.approx(0.75)
    assert known().share(between=(10, 20)).value == pytest.approx(0.25)
    numbers = known(Integers(3, ordered=True))
    assert numbers.share(above=1).value == numbers.share(above=0.5).value == pytest.approx(0.5)
    assert known(None).share(below=1).value == pytest.approx(0.5)  # codes


def test_a_quantile_by_hand() -> None:
    assert known().quantile(0.5).value == pytest.approx(10)
    assert known().quantile(0.25).value == pytest.approx(5)  # half of the way through the first
    assert known(Integers(3, ordered=True)).quantile(0.6).value == 1
    median = known().quantile(0.5)
    # 0.5 ± 0.2: it may lie in the first bin, and in the second, but 0.75 - 0.2 lies above
    assert (median.low, median.high) == (0, 20)


def test_the_ends_of_an_interval_are_values_that_there_are() -> None:
    cdf = known().cdf()
    assert cdf.places.tolist() == [10, 20, 40]
    assert cdf.shares.tolist() == pytest.approx([0.5, 0.75, 1])
    assert (cdf.low <= cdf.shares).all()
    assert (cdf.low[-1], cdf.high[-1]) == (1, 1)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: known().share(above=50), "No bin lies from 50 on.*: they go from 0 to 40"),
        (lambda: known().share(below=0), "No bin lies below 0"),
        (lambda: known().share(above=0), "Every bin lies from 0 on"),
        (lambda: known(None).share(between=(0.2, 0.8)), "No value lies from 0.2 to 0.8"),
        (lambda: known(YEAR).share(above="2024-06-30"), "take 2024-02-01 or 2024-07-01"),
        (lambda: known(YEAR).share(above="19905"), "'19905' is not a date"),
        (lambda: known(GRADES).share(above="hgih"), "Did you mean 'high'"),
        (lambda: known().share(above=15), "15 lies inside a bin.*: take 10 or 20"),
        (lambda: known().share(above=15, below=20), "one of `above`, `below` and `between`"),
        (lambda: known().share(between=(20, 10)), "to a larger one, got one from 20 to 10"),
        (lambda: known().share(between=(20,)), "between two places takes both"),  # type: ignore[arg-type]
        (lambda: known().share(between=20), "between two places takes both"),  # type: ignore[arg-type]
        (lambda: known().quantile(1.5), "must be between 0 and 1"),
        (lambda: known().mean(level=1.0), "must be between 0 and 1"),
        (lambda: known(Labels(["a", "b", "c"])).mean(), "goes by an order, and 3 labels have none"),
        (
            lambda: known(Bins([0, 1, 2], other="none")).mean(guaranteed=True),
            "an interval is not guaranteed",
        ),
        (lambda: known(Labels(["a", "b", "c"], ordered=True)).mean(), "A mean needs numbers"),
        (lambda: known(noise=Support(0.5, 0.25)).mean(), "how the errors of different values hang"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(ask, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LDPError, match=said) as caught:
        ask()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("protocol", ["pgr", "sw", "resolutions", "resolutions(wave=0.99)"])
def test_few_reports_give_no_certainty(protocol: str) -> None:
    """Of ten to thirty reports: they held in 0.4 to 0.9, some of no width; now in 0.9 or more."""
    oracle, held, runs = ldp3.oracle(protocol, epsilon=1.0, d=16), 0, 0
    histogram = np.repeat([2, 0], 8)
    for i in range(200):
        tally = oracle.simulate(histogram, stream(i, protocol))
        try:
            share = oracle.estimate(tally).share(above=4)
        except InvalidData:  # nobody was asked in all bins
            continue
        assert share.high > share.low
        held, runs = held + (share.low <= 0.5 <= share.high), runs + 1
    assert binom.cdf(held, runs, 0.95) > 1e-3


@pytest.mark.parametrize("protocol", ["sw", "oue", "resolutions(wave=0.5)"])
def test_a_cumulated_distribution_is_made_of_shares(protocol: str) -> None:
    oracle = ldp3.oracle(protocol, epsilon=1.0, d=300)  # more than are looked at together
    found = oracle.estimate(oracle.simulate(np.full(300, 9), stream(1)))
    cdf = found.cdf()
    for place in (0, 150, 298):
        share = found.share(below=place + 1)
        assert cdf.shares[place] == pytest.approx(share.value, rel=1e-12)
        assert (cdf.low[place], cdf.high[place]) == pytest.approx((share.low, share.high))


RUNS = 300
CASES = [
    pytest.param(name, setting, marks=[] if name == "sw" else pytest.mark.slow)
    for name, setting in product(["sw", "pgr", "olh"], [(1.0, 20_000), (4.0, 1_000)])
]


@pytest.mark.parametrize(("protocol", "setting"), CASES)
def test_intervals_hold_as_often_as_they_say(protocol: str, setting: tuple[float, int]) -> None:
    """Each of 24 counts is too low by chance less than once in 10⁷ times."""
    (epsilon, n), d = setting, 32
    x = (np.arange(d) + 0.5) / d
    law = np.where(np.arange(d) % 7 == 0, 5, 0.3) * np.exp(-3 * x)
    histogram = stream(1, n).multinomial(n, law / law.sum())
    truth, domain = histogram / n, Bins(np.linspace(0, 100, d + 1).tolist())
    edges, until = np.array(domain.edges), np.cumsum(truth)
    middles = (edges[1:] + edges[:-1]) / 2
    oracle, held = ldp3.oracle(protocol, epsilon=epsilon, d=d), np.zeros(4, dtype=int)
    places = {q: int(np.searchsorted(until, q - 1e-12)) for q in (0.5, 0.9)}
    for run in range(RUNS):
        tally = oracle.simulate(histogram, stream(run, protocol, n))
        estimate = replace(oracle.estimate(tally), domain=domain)
        mean, share = estimate.mean(), estimate.share(above=edges[8])
        held[0] += mean.low <= truth @ middles <= mean.high
        held[1] += share.low <= truth[8:].sum() <= share.high
        for i, (q, place) in enumerate(places.items(), start=2):
            found = estimate.quantile(q)
            held[i] += found.low <= edges[place] and edges[place + 1] <= found.high
    assert (held >= binom.ppf(1e-7, RUNS, 0.95)).all()


@pytest.mark.parametrize(("protocol", "n"), [("sw", 3), ("sw", 200), ("pgr", 30)])
def test_guaranteed_intervals_hold_for_few_reports(protocol: str, n: int) -> None:
    """All people at one end, where noise is largest; too low by chance once in 10⁷ times."""
    d = 16
    oracle, histogram = ldp3.oracle(protocol, epsilon=2.0, d=d), np.bincount([0] * n, minlength=d)
    held, enough = np.zeros(3, dtype=int), binom.ppf(1e-7, RUNS, 0.95)
    for run in range(RUNS):
        estimate = oracle.estimate(oracle.simulate(histogram, stream(run, protocol, n)))
        sure = estimate.noise.surely(np.linspace(-7.5, 7.5, d), 0.05)
        assert sure is not None
        mean = float(estimate.frequencies @ np.arange(d))
        asked = estimate.mean(guaranteed=True), estimate.share(above=4, guaranteed=True)
        held[:2] += [each.low <= 0 <= each.high for each in asked]
        held[2] += -sure[0] / 3 <= mean <= sure[1] / 3  # planted: a bound that is too short
    assert (held[:2] >= enough).all()
    assert held[2] < enough


def test_a_guaranteed_interval_is_wider_by_half_where_it_is_known() -> None:
    oracle = ldp3.oracle("sw", epsilon=1.0, d=64)
    estimate = oracle.estimate(oracle.simulate(np.full(64, 1000), stream(0)))
    usual, sure = estimate.mean(), estimate.mean(guaranteed=True)
    assert usual.value == sure.value
    assert 1.38 < (sure.high - sure.low) / (usual.high - usual.low) < 1.7
    with pytest.raises(InvalidData, match=r"guaranteed interval .* such as sw, grr or pgr"):
        known().mean(guaranteed=True)
