import numpy as np
import polars as pl

from ldp3.reporting.frequencies import NUMBERS, VALUES, Frequencies
from ldp3.results.table import Results
from tests.reporting.examples import DATA, large, several


def test_a_small_domain_is_shown_whole_and_in_order() -> None:
    shown = Frequencies.of(several(), DATA.name)
    assert shown is not None
    assert shown.labels == tuple(DATA.labels)
    assert np.array_equal(shown.truth, DATA.frequencies)


def test_of_a_large_domain_the_most_frequent_values_are_shown() -> None:
    results = large()
    shown, truth = Frequencies.of(results, "large"), results.datasets["large"].frequencies
    assert shown is not None
    assert (len(shown.labels), shown.d) == (VALUES, 1000)
    assert shown.truth.min() >= np.sort(truth)[-VALUES]
    mean = results.means.filter(method="norm_sub")["frequencies"][0]  # type: ignore[union-attr]
    assert shown.means[1.0, "oue", "norm_sub"][0] == mean[int(shown.labels[0][1:])]


def test_many_combinations_leave_room_for_fewer_values() -> None:
    results = large()
    assert results.means is not None
    epsilon = pl.int_range(pl.len()).cast(pl.Float64)
    many = pl.concat([results.means] * (NUMBERS // 20)).with_columns(epsilon=epsilon)
    shown = Frequencies.of(Results(results.table, {}, results.datasets, many), "large")
    assert shown is not None
    assert len(shown.labels) == 10


def test_estimates_of_another_dataset_or_under_attack_are_never_mixed_in() -> None:
    results = several()
    assert results.means is not None
    zero = pl.col("frequencies").list.eval(pl.element() * 0)
    others = [
        results.means.with_columns(zero, dataset=pl.lit("other")),
        results.means.with_columns(zero, attack=pl.lit("some")),
    ]
    mixed = Results(
        results.table, {}, results.datasets, pl.concat([*others, results.means, *others])
    )
    shown, own = Frequencies.of(mixed, DATA.name), Frequencies.of(results, DATA.name)
    assert shown is not None
    assert own is not None
    assert shown.means.keys() == own.means.keys()
    assert all(np.array_equal(shown.means[key], own.means[key]) for key in own.means)


def test_a_table_alone_shows_none() -> None:
    assert Frequencies.of(Results(several().table), DATA.name) is None
