"""What a paper's table shows."""

import numpy as np

from ldp3.answers import PrintedCell
from ldp3.results.axes import Conditions
from ldp3.results.sheets import Sheet
from ldp3.results.ties import Runs

RUNS = {
    ("grr", "none"): np.array([0.0056, 0.0058]),
    ("grr", "norm"): np.array([0.0046, 0.0048]),
    ("grr", "norm_sub"): np.array([0.0036, 0.0038]),
    ("oue", "none"): np.array([0.0016, 0.0018]),
    ("oue", "norm_sub"): np.array([0.0011, 0.0013]),
}


def sheet_of(
    runs: Runs, metric: str = "l1", better: str = "lower", dataset: str = "small"
) -> Sheet:
    return Sheet(metric, Conditions(dataset=dataset, epsilon=1.0), 10, 3, better, (), runs)


SHEET = sheet_of(RUNS)


def test_none_and_average_come_first() -> None:
    assert SHEET.columns == ["none", "average", "norm", "norm_sub"]


def test_the_average_is_over_the_methods_other_than_none() -> None:
    assert SHEET.cell("grr", "average") == PrintedCell("4.20", "0.14")
    assert SHEET.cell("oue", "average").text == SHEET.cell("oue", "norm_sub").text


def test_one_method_needs_no_average() -> None:
    runs = {k: v for k, v in RUNS.items() if k[1] != "norm"}
    assert sheet_of(runs).columns == ["none", "norm_sub"]


def test_the_power_of_ten_of_the_best_is_factored_out() -> None:
    assert SHEET.exponent == -3


def test_zeros_have_no_scale() -> None:
    assert sheet_of({("grr", "none"): np.zeros(2)}).exponent == 0


def test_what_does_not_apply_is_a_dash() -> None:
    assert SHEET.cell("oue", "norm") == PrintedCell("–")


def test_higher_metrics_mark_the_highest() -> None:
    assert sheet_of(RUNS, "ndcg", "higher").best == ("grr", "none")


def test_the_winner_keeps_its_digits_beside_what_is_far_worse() -> None:
    sheet = sheet_of({("grr", "none"): np.array([313.0, 320.0]),
                      ("oue", "none"): np.array([0.02, 0.0214])})  # fmt: skip
    assert sheet.cell("oue", "none").text == "2.07"
    assert sheet.cell("grr", "none").text == "31,650"
    assert sheet.cell("grr", "none").deviation == "495"


def test_a_score_of_which_more_is_better_is_read_as_it_is() -> None:
    sheet = sheet_of({("grr", "none"): np.array([0.98, 0.97])}, "ndcg", "higher")
    assert (sheet.exponent, sheet.cell("grr", "none").text) == (0, "0.975")
