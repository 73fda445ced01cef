"""What was read survives: the domain is written down, read again, and codes values as they were."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3.domain import Bins, Domain, Grid, Integers, Labels, read_domain

PAGES = ["home", "cart", "home", "help", "news", "home", "cart"]
AGES = [3, 17, 18, 40, 70, 18, 65]
DAYS = ["2013-01-05", "2013-02-01", "2013-12-31", "2013-02-01"]
PRICES = [0.1, 0.3, 0.3, 12.5, 99.0]
EACH = Labels(["cart", "help", "home", "news"])
READ: dict[str, tuple[object, dict[str, Any], Domain]] = {
    "labels": (PAGES, {}, EACH),
    "ordered": (PAGES, {"ordered": True}, EACH.in_order()),
    "numbers": (AGES, {}, Labels(["3", "17", "18", "40", "65", "70"], [3, 17, 18, 40, 65, 70])),
    "decimals": (PRICES, {}, Labels(["0.1", "0.3", "12.5", "99.0"], [0.1, 0.3, 12.5, 99.0],
                                    ordered=True)),
    "days": (DAYS[:2], {}, Labels(DAYS[:2], [15_710, 15_737], ordered=True)),
    "categories": (pl.Series(PAGES, dtype=pl.Enum(["news", "help", "home", "cart", "search"])), {},
                   Labels(["news", "help", "home", "cart", "search"])),
    "integers that occur": ([0, 2, 1, 1], {}, Integers(3)),
    "domain_size": (AGES, {"domain_size": 100}, Integers(100)),
    "domain_size and other": (AGES, {"domain_size": 20, "other": "more"},
                              Integers(20, other="more")),
    "domain": (PAGES, {"domain": ["news", "home", "help", "cart", "search"]},
               Labels(["news", "home", "help", "cart", "search"])),
    "domain and other": (PAGES, {"domain": ["home", "rest", "cart"], "other": "rest"},
                         Labels(["home", "cart"], other="rest")),
    "top": (PAGES[:3], {"top": 2}, Labels(["cart", "home"])),
    "top and other": (PAGES, {"top": 2, "other": "rest"}, Labels(["cart", "home"], other="rest")),
    "bins": (AGES, {"bins": 3, "within": (0, 90)}, Bins([0, 30, 60, 90])),
    "bins of what occurs": (AGES, {"bins": 2}, Bins([3, 36.5, 70], closed=True)),
    "edges": (AGES, {"bins": [0, 18, 65, 120]}, Bins([0, 18, 65, 120])),
    "open edges": (AGES, {"bins": [-np.inf, 18, np.inf]}, Bins([-np.inf, 18, np.inf])),
    "quantiles": (AGES, {"bins": "quantiles:3"}, Bins([3, 18, 65, 70], closed=True)),
    "quantiles of equals": ([1, 1, 4, 4, 4], {"bins": "quantiles:2"}, Bins([1, 4, 4], closed=True)),
    "log": ([1, 9, 10, 99, 1000], {"bins": "log:3"}, Bins([1, 10, 100, 1000], closed=True)),
    "dates": (DAYS, {"bins": 2}, Bins([15_710, 15_890, 16_070], closed=True, dates=True)),
    "edges of dates": (DAYS, {"bins": ["2013-01-01", date(2013, 7, 1), "2014-01-01"]},
                       Bins([15_706, 15_887, 16_071], dates=True)),
    "moments": (["2013-01-01 06:00:00", "2013-01-01 12:00:00"], {"bins": 2},
                Bins([15_706.25, 15_706.375, 15_706.5], closed=True, dates=True)),
}  # fmt: skip


@pytest.mark.parametrize("how", READ)
def test_the_domain_of_what_was_read(how: str) -> None:
    source, options, domain = READ[how]
    data = ldp3.load(source, keep_values=True, **options)
    assert data.domain == domain
    assert read_domain(json.loads(json.dumps(data.domain.describe())), how) == domain


@pytest.mark.parametrize("how", READ)
def test_a_client_codes_values_as_they_were_read(how: str) -> None:
    source, options, _ = READ[how]
    data = ldp3.load(source, keep_values=True, **options)
    again = read_domain(data.domain.describe(), how)
    assert data.values is not None
    held = [again.code(str(value)) for value in source]  # type: ignore[attr-defined]
    assert held == data.values.tolist()
    assert np.bincount(held, minlength=data.d).tolist() == data.histogram.tolist()


def test_a_client_codes_pairs_as_they_were_read() -> None:
    rng = ldp3.stream(0, "pairs")
    table = pl.DataFrame({"lat": rng.integers(100, 200, 500) / 10, "lon": rng.uniform(-9, -8, 500)})
    for options in ({}, {"within": ((10, 20), (-9, -8))}):
        data = ldp3.load(table, grid=(10, 5), keep_values=True, **options)  # type: ignore[call-overload]
        assert isinstance(data.domain, Grid)
        assert data.domain.name == "lat, lon"
        again = read_domain(json.loads(json.dumps(data.domain.describe())), "a plan")
        assert again == data.domain
        assert data.values is not None
        assert [again.code(pair) for pair in table.rows()] == data.values.tolist()


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_domain_is_called_as_the_column(tmp_path: Path, ending: str) -> None:
    table, path = pl.DataFrame({"page": PAGES, "age": AGES}), tmp_path / f"visits.{ending}"
    write = {"csv": table.write_csv, "parquet": table.write_parquet, "jsonl": table.write_ndjson}
    write[ending](path)  # type: ignore[operator]
    assert ldp3.load(path, column="page").domain.name == "page"
    assert ldp3.load(path, column=2).domain.name == "age"
    assert ldp3.load(path, column="age", bins=2).domain.name == "age"
    assert ldp3.load(PAGES).domain.name == "value"


def test_results_keep_the_domain(tmp_path: Path) -> None:
    ages = ldp3.load(AGES, bins=[0, 18, 65, 120])
    results = ldp3.benchmark([ages, "zipf(d=4)"], 1, "grr", "none", repeats=1)
    results.save(tmp_path / "results")
    again = ldp3.load_results(tmp_path / "results")
    for name, data in results.datasets.items():
        assert again.datasets[name].domain == data.domain
        assert again.datasets[name].digest == data.digest
    assert again.datasets[ages.name].domain == Bins([0, 18, 65, 120])
