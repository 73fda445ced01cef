import polars as pl
import pytest

import ldp3
from ldp3.reporting.findings import Findings
from ldp3.reporting.origin import command, origin
from ldp3.results.table import Results


@pytest.fixture(scope="module")
def results() -> Results:
    data = ["flights", "zipf(d=8, n=100, s=1.1)"]
    return ldp3.benchmark(data, [0.5, 1.0], "grr", "norm_sub", "l1", repeats=2, seed=5)


def test_a_run_from_python_gets_a_command_that_gives_the_same_table(results: Results) -> None:
    assert command(results.manifest) == (
        "ldp3 run -d flights 'zipf(d=8, n=100, s=1.1)' -e 0.5 1 -p grr -m none norm_sub -u l1 -r 2 "
        "--seed 5 --simulate exact --reference truth"
    )


def test_the_command_that_was_given_is_shown_as_it_was() -> None:
    assert command({"command": "ldp3 run -e 1"}) == "ldp3 run -e 1"


@pytest.mark.parametrize("name", ["data", "epsilons", "seed", "reference"])
def test_without_all_of_the_manifest_no_command_is_made_up(results: Results, name: str) -> None:
    assert command({key: value for key, value in results.manifest.items() if key != name}) is None
    assert command({**results.manifest, "data": "flights"}) is None


def test_the_digest_is_that_of_the_dataset_that_is_shown(results: Results) -> None:
    one = results.table.filter(pl.col("dataset") != "flights")
    found = origin(Findings(Results(one, results.manifest)))
    assert found["SHA-256 of the data"] == results.manifest["data"][1]["digest"]
    assert found["Dataset"].startswith("zipf(d=8, n=100, s=1.1): 100 users")


def test_what_is_not_known_is_not_said(results: Results) -> None:
    found = origin(Findings(Results(results.table.filter(dataset="flights"))))
    assert [what for what in found if not what.startswith("Left out")] == ["Dataset", "Simulation"]


def test_an_attacked_run_gets_the_command_that_attacks() -> None:
    options = {"attacks": "mga", "fake_users": "1%", "targets": "bottom:2"}
    made = ldp3.benchmark("flights", 1.0, "grr", "norm_sub", "l1", repeats=2, **options)  # type: ignore[arg-type]
    assert command(made.manifest) == (
        "ldp3 attack poison -d flights -e 1 -p grr -m none norm_sub -u l1 -r 2 --seed 0 "
        "--simulate exact --attack mga --targets bottom:2 --fake-users 1%"
    )
    assert command({**made.manifest, "attacks": 3}) is not None
    assert command({k: v for k, v in made.manifest.items() if k != "targets"}) is None
