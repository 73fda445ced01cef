"""Results of several runs as one, and several datasets side by side."""

from pathlib import Path

import pytest

import ldp3
from ldp3.errors import LDPError
from ldp3.results.joining import joined
from ldp3.results.table import Results, load_results


def ran(data: object, protocols: list[str], **options: object) -> Results:
    return ldp3.benchmark(data, 1, protocols, "norm_sub", repeats=4, threads=1, **options)  # type: ignore[arg-type]


def test_what_was_run_apart_is_what_was_run_together(tmp_path: Path) -> None:
    data = ["zipf(d=6, n=900)", "uniform(d=6, n=900)"]
    parts = [ran(one, ["grr", "oue"]) for one in data]
    for place, part in enumerate(parts):
        part.save(tmp_path / str(place))
    both = joined([load_results(tmp_path / "0"), load_results(tmp_path / "1")])
    whole = ran(data, ["grr", "oue"])
    assert both.table.equals(whole.table)
    assert both.best().equals(whole.best())
    assert both.means is not None
    assert len(both.means) == 8
    assert set(both.datasets) == set(whole.datasets)
    assert [one["name"] for one in both.manifest["data"]] == list(whole.datasets)


def test_a_protocol_that_was_run_later_joins_its_dataset() -> None:
    both = joined([ran("zipf(d=6, n=900)", ["grr"]), ran("zipf(d=6, n=900)", ["oue"])])
    assert set(both.sheets()[0].protocols) == {"grr", "oue"}
    assert len(both.datasets) == 1


def test_nothing_is_there_twice() -> None:
    one = ran("zipf(d=6, n=900)", ["grr"])
    with pytest.raises(LDPError, match=r"grr with none on zipf.* is in two of these") as refused:
        joined([one, one])
    assert "\n" not in str(refused.value)


def test_other_data_of_the_same_name_get_a_number() -> None:
    parts = [ldp3.load(values) for values in (list("aab"), list("abb"))]
    assert parts[0].name == parts[1].name
    both = joined([ran(part, ["grr"]) for part in parts])
    assert list(both.datasets) == [parts[0].name, f"{parts[0].name} (2)"]
    assert set(both.table["dataset"]) == set(both.datasets)


def test_ties_pay_for_the_most_looks() -> None:
    one, other = ran("zipf(d=6, n=900)", ["grr"]), ran("zipf(d=6, n=900)", ["oue"])
    one.manifest["looks"] = [10, 20, 40]
    assert joined([one, other]).looks == joined([other, one]).looks == 3
