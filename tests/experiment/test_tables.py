"""Several attributes in a run: a table's tables of one and of two attributes are compared."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3.domain import Integers, Records
from ldp3.errors import InvalidParameter
from ldp3.people import Marginals, Table

SIZES = (2, 3, 4)
DOMAIN = Records([Integers(size, name=name) for name, size in zip("abc", SIZES, strict=True)])
ONE, TWO = "t, 1-way tables", "t, 2-way tables"


def table(n: int = 20_000, name: str = "t") -> Table:
    rng = ldp3.stream(0, "people")
    records = np.stack(np.unravel_index(np.arange(24), SIZES), axis=1)
    return Table(name, DOMAIN, records, rng.multinomial(n, rng.dirichlet(np.ones(24))))


def mean(results: ldp3.Results, **where: Any) -> float:
    return float(results.table.filter(**where)["value"].to_numpy().mean())


def test_a_table_is_compared_by_its_tables_of_one_and_two_attributes() -> None:
    found = ldp3.benchmark(table(), repeats=3)
    assert sorted(found.table["dataset"].unique()) == [ONE, TWO]
    assert set(found.table["protocol"]) == {"groups", "pairs", "smp"}
    assert set(found.table["method"]) == {"none", "norm_sub", "multiscale", "interactions"}
    assert set(found.table.filter(dataset=TWO)["protocol"]) == {"groups", "pairs"}
    assert set(found.table["d"]) == {9, 6 + 8 + 12}
    assert set(found.table["n"]) == {20_000}
    assert any("SMP does not tell t, 2-way tables" in note for note in found.manifest["notes"])


def test_a_score_is_the_mean_over_the_tables_of_what_the_scheme_says() -> None:
    data = table()
    found = ldp3.benchmark(data, 1.0, "pairs", "norm_sub", ["l1", "mse"], repeats=1, seed=3)
    for way in (1, 2):
        marginals = Marginals.of(data, way)
        scheme = ldp3.scheme("pairs", 1.0, data)
        key = marginals.digest + "/0", "pairs", (1.0).hex(), 0, 0
        tally = scheme.simulate_records(data.records, data.counts, ldp3.stream(3, "exact", *key))
        tables = ldp3.postprocess("norm_sub")(scheme.tables(tally, data.domain))
        for metric in ("l1", "mse"):
            each = [
                ldp3.metric(metric)(data[own].frequencies, f)
                for own, f in tables.items()
                if (len(own) if isinstance(own, tuple) else 1) == way
            ]
            score = mean(found, dataset=marginals.name, metric=metric, method="norm_sub")
            assert score == pytest.approx(np.mean(each), rel=1e-12)


def test_people_one_by_one_have_the_law_of_exact_simulation() -> None:
    """Means of 60 squared errors differ by chance by less than 5 standard deviations (1e-6)."""
    data, asked = table(2_000), (["groups", "smp"], "none", "mse")
    exact = ldp3.benchmark(data, 2.0, *asked, repeats=60, simulate="exact", seed=1)
    users = ldp3.benchmark(data, 2.0, *asked, repeats=60, simulate="users", seed=2)
    for dataset, protocol in ((ONE, "smp"), (TWO, "groups")):
        a, b = (
            run.table.filter(dataset=dataset, protocol=protocol)["value"].to_numpy()
            for run in (exact, users)
        )
        assert abs(a.mean() - b.mean()) < 5 * np.sqrt(a.var() / 60 + b.var() / 60)


def test_more_people_have_less_error_and_splitting_has_more() -> None:
    data = [table(2_000, "few"), table(18_000, "many")]
    found = ldp3.benchmark(data, 1.0, ["groups", "spl"], "none", "mse", repeats=8)
    for way in ("1-way", "2-way"):
        few, many = f"few, {way} tables", f"many, {way} tables"
        best = mean(found, dataset=many, protocol="groups")
        assert mean(found, dataset=few, protocol="groups") > 3 * best
        assert mean(found, dataset=many, protocol="spl") > best


def test_results_go_on_where_they_ended_and_are_read_again(tmp_path: Path) -> None:
    asked: Any = (table(), 1.0, ["groups", "smp"], ["none", "interactions"])
    first = ldp3.benchmark(*asked, repeats=2, output=tmp_path / "r")
    with pytest.warns(UserWarning, match="6 of 12 cells are done already"):
        more = ldp3.benchmark(*asked, repeats=4, output=tmp_path / "r")
    assert more.table.equals(ldp3.benchmark(*asked, repeats=4).table)
    assert more.table.filter(pl.col("repeat") < 2).equals(first.table)
    again = ldp3.load_results(tmp_path / "r")
    data = again.datasets[TWO]
    assert isinstance(data, Marginals)
    assert (data.n, data.d, data.way) == (20_000, 26, 2)
    assert data.digest == Marginals.of(table(), 2).digest
    assert "2-way tables" in again.render("latex")
    ldp3.report(again, tmp_path / "page.html")


def test_kept_estimates_are_scored_as_in_a_run() -> None:
    kept = ldp3.benchmark(table(), 1.0, "smp", "none", repeats=2, keep_estimates=True)
    run = ldp3.benchmark(table(), 1.0, "smp", "none", "mse", repeats=2)
    scores = kept.score("mse").table["value"].to_list()
    assert scores == pytest.approx(run.table["value"].to_list())


def test_datasets_and_tables_go_together_each_with_its_own_protocols() -> None:
    found = ldp3.benchmark([table(), ldp3.load([0, 1, 1, 2])], 1.0, ["groups", "grr"], repeats=2)
    ran = found.table.select("dataset", "protocol").unique().rows()
    assert sorted(ran) == [("data", "grr"), (ONE, "groups"), (TWO, "groups")]


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (table(), {"protocols": "grr"}, "grr is for one attribute; for several there are groups"),
        ("flights", {"protocols": "groups"}, "groups is for several attributes, read together"),
        (table(), {"attacks": "mga", "fake_users": "1%"}, "this is for one: choose it"),
        (table(), {"protocols": "literature"}, "None of these protocols is for data with so many"),
        (table(), {"methods": "em"}, "em does not apply to groups"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(
    data: object, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidParameter, match=said):
        ldp3.benchmark(data, repeats=1, **options)


def test_what_is_for_tables_alone_competes_on_no_single_attribute() -> None:
    with pytest.raises(InvalidParameter, match="interactions does not apply to grr"):
        ldp3.benchmark("uniform", epsilons=[1.0], protocols=["grr"], methods=["interactions"])
