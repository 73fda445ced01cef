from dataclasses import replace
from hashlib import sha256
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

import ldp3
from examples.reproduction import advice, budget, data, paper, power, shapes, tables, theory
from examples.reproduction.__main__ import BLOCKS, main
from examples.reproduction.data import Files
from ldp3.arrays import FloatArray
from ldp3.postprocessing.power import Power, _exponent
from ldp3.types import Estimate

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
NORMAL = 5.33  # two-sided 1e-7: ten comparisons at 1e-6 altogether


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Pages, ages and taxis of nobody."""
    rng = ldp3.stream(0, "made up")
    cells = [f"{r},{c},{1 + (r * c) % 7}" for r in range(0, 255, 5) for c in range(0, 255, 5)]
    streams = [" ".join(map(str, rng.geometric(0.02, 5))) for _ in range(500)]
    (tmp_path / "streams.dat").write_text("\n".join(streams))
    (tmp_path / "cells.csv").write_text("\n".join(["row,column,count", *cells]))
    for name, law in (("pages", rng.geometric(0.02, 2000)), ("ages", rng.integers(0, 60, 2000))):
        (tmp_path / f"{name}.csv").write_text("\n".join(map(str, law)))
    return [
        f"--kosarak={tmp_path / 'pages.csv'}",
        f"--kosarak-raw={tmp_path / 'streams.dat'}",
        f"--adult={tmp_path / 'ages.csv'}",
        f"--beijing={tmp_path / 'cells.csv'}",
    ]


@pytest.mark.parametrize("table", paper.TABLES, ids=lambda t: t.name)
def test_the_numbers_are_copied_right_as_their_averages_come_out(table: paper.Table) -> None:
    for protocol in paper.PROTOCOLS:
        # one of the printed averages is over w/o PP as well
        odd = (table.name, protocol) == ("bms_pos", "ss")
        methods = ("none", *paper.METHODS) if odd else paper.METHODS
        mean = np.mean([table.cells[protocol, method] for method in methods])
        assert table.cells[protocol, "average"] == pytest.approx(mean, abs=0.01)  # two roundings


@pytest.mark.parametrize("protocol", paper.PROTOCOLS)
def test_the_closed_form_is_the_mean_of_many_collections(protocol: str) -> None:
    made = ldp3.load("zipf(s=1.3, d=64, n=1_000_000)")
    values = ldp3.benchmark(made, 1.0, protocol, "none", "mae", repeats=400).table["value"]
    oracle = theory.pure(protocol, 1.0, made.d)
    expected = theory.mae(oracle, made.n, made.frequencies)
    error = float(np.std(values.to_numpy(), ddof=1)) / sqrt(len(values))
    assert abs(float(np.mean(values.to_numpy())) - expected) < NORMAL * error


@pytest.mark.parametrize("protocol", paper.PROTOCOLS)
@pytest.mark.parametrize("spec", ["zipf(d=32)", "spike(d=32)", "gaussian(d=32)"])
def test_no_histogram_leaves_the_bounds(protocol: str, spec: str) -> None:
    made = ldp3.load(spec)
    oracle = theory.pure(protocol, 1.0, made.d)
    low, high = theory.mae_bounds(oracle, made.n)
    assert low < theory.mae(oracle, made.n, made.frequencies) < high or low == pytest.approx(high)


def made_up(n: int) -> Estimate:
    frequencies = np.array([0.6, 0.25, 0.1, 0.04, 0.004, -0.003, -0.02])
    return Estimate.of(frequencies, n, noise=1e-4)


def by_definition(estimate: Estimate, variance: float) -> FloatArray:
    n, means = estimate.n, []
    x = np.arange(1.0, n + 1)
    prior = x ** -_exponent(n * float(estimate.frequencies.mean()), n)
    for c in n * estimate.frequencies:
        likelihood = np.exp(-((x - c) ** 2) / (2 * n * variance))
        likelihood[likelihood == 0] = power.FLOOR
        means.append((likelihood * prior) @ x / (likelihood @ prior) / n)
    return np.array(means)


@pytest.mark.parametrize("variance", [1.0, 0.05])
def test_floored_power_is_its_definition(variance: float) -> None:
    estimate = made_up(n=20_000)
    ours = power.floored_power(estimate, variance)
    np.testing.assert_allclose(ours, by_definition(estimate, variance), rtol=1e-9)


def test_the_floor_does_nothing_where_the_variance_is_right_and_harm_where_it_is_not() -> None:
    estimate = made_up(n=20_000)
    right, wrong = estimate.n * estimate.noise.floor, 0.05
    np.testing.assert_allclose(
        power.floored_power(estimate, right), Power(variance=right)(estimate), atol=1e-7
    )
    nobody = power.floored_power(estimate, wrong)[-1]
    assert nobody > 100 * Power(variance=wrong)(estimate)[-1]


SAID = {
    "tables": ["Measured on the original: kosarak", "Stand-in: DPBench", "Stand-in: geometric"],
    "ties": ["| random |"],
    "power": ["| Kosarak | Kosarak |", "| Porto | `zipf("],
    "advice": ["| Adult, ages |", "| SS + our default |"],
    "time": ["size of Porto"],
}


@pytest.mark.parametrize("command", BLOCKS)
def test_every_command_fills_the_page(
    command: str, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = paper.TABLES[0], replace(paper.TABLES[2], n=20_000)
    monkeypatch.setattr(paper, "TABLES", two)
    monkeypatch.setitem(data.SYNTHETIC, "porto", "geometric(p=0.028, d=225, n=20_000)")
    monkeypatch.setattr(shapes, "FAMILIES", {"zipf(s={})": np.array([1.3])})
    monkeypatch.setattr(advice, "SHAPES", ("steps(d=16, n=1000)",))
    monkeypatch.setattr(advice, "PROTOCOLS", ["grr", "oue", "ss"])
    monkeypatch.setattr(advice, "RULES", {r: c for r, c in advice.RULES.items() if "pgr" not in r})
    page = tmp_path / "page.md"
    page.write_text("".join(f"<!-- {b} -->\n<!-- end {b} -->\n" for b in BLOCKS[command]))
    small = ["--repeats=2", "--epsilons", "1", "2", "--shrink=10", "--rounds=1"]
    main([command, *files, *small, f"--write={page}"])
    filled = page.read_text()
    measured = [block for block in BLOCKS[command] if block != "peers"]  # they are not installed
    assert all(f"<!-- {block} -->\n\n" in filled for block in measured)
    assert "nan" not in filled
    assert all(words in filled for words in SAID[command])
    drawn = {"advice": ["advice.svg"], "time": ["threads.svg"]}.get(command, [])
    assert [path.name for path in (tmp_path / "figures").glob("*")] == drawn


def test_a_file_of_one_integer_per_line_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "processed.csv"
    path.write_text("".join(f"{v}\n" for v in [0] * 5 + [1] * 3 + [2]))
    found = data.original("kosarak", Files(kosarak=str(path)))
    assert found is not None
    assert sorted(found.histogram.tolist()) == [1, 3, 5]
    assert not data.is_processed("kosarak", str(path))  # not the authors'
    digest = sha256(path.read_bytes()).hexdigest()
    assert all(len(file.digest) == len(digest) for file in paper.PROCESSED.values())


def test_a_deviation_is_the_gap_over_the_errors_of_both_means() -> None:
    runs = {("grr", "none"): 1e-3 * np.array([5.0, 6.0, 7.0, 6.0])}
    measured = tables.Measured(paper.TABLES[0], ldp3.load("zipf(d=128)"), "", runs, original=True)
    error = sqrt(2 / 3 / paper.REPEATS + 2 / 3 / 4 + 0.01**2 / 12)
    assert measured.deviation("grr", "none") == pytest.approx((5.65 - 6) / error)


def test_theory_is_one_number_where_the_histogram_is_known() -> None:
    known = ldp3.load("zipf(s=1.3, d=128, n=929_669)")
    low, high = tables.Measured(paper.TABLES[0], known, "", {}, original=True).expected("grr")
    least, most = tables.Measured(paper.TABLES[0], known, "", {}, original=False).expected("grr")
    assert least < low == high < most


def test_without_any_file_the_tables_say_what_stands_in(capsys: pytest.CaptureFixture[str]) -> None:
    main(["tables", "--repeats=2"])
    said = capsys.readouterr().out
    assert said.count("The paper's file is not here. Stand-in: ") == 3


def test_a_missing_file_is_one_line() -> None:
    with pytest.raises(SystemExit, match=r"nowhere\.dat"):
        main(["tables", "--kosarak=nowhere.dat", "--repeats=2"])


def test_a_page_that_cannot_be_filled_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ldp3, "benchmark", None)
    page = tmp_path / "page.md"
    with pytest.raises(SystemExit, match="needs a page that exists"):
        main(["time", f"--write={page}"])
    page.write_text("nothing here")
    with pytest.raises(SystemExit, match="must hold '<!-- threads -->'"):
        main(["time", f"--write={page}"])


def test_the_page_is_filled_and_its_figures_are_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for command, blocks in BLOCKS.items():
        assert f"python -m examples.reproduction {command}" in text
        for block in blocks:
            assert f"<!-- {block} -->\n\n" in text
    for name in ("advice.svg", "threads.svg"):
        assert f"figures/{name}" in text
        assert (PAGE.parent / "figures" / name).stat().st_size < 100_000


@pytest.mark.parametrize("method", ["none", "norm_sub"])
@pytest.mark.parametrize("protocol", ["grr", "rappor", "oue"])
def test_published_frequencies_tell_epsilon(protocol: str, method: str) -> None:
    people = ldp3.load("zipf(s=1.1, d=74, n=45_222)")
    oracle = ldp3.oracle(protocol, 1.0, people.d)
    estimate = oracle.estimate(oracle.simulate(people.histogram, ldp3.stream(1)))
    published = ldp3.postprocess(method)(estimate)
    assert budget.epsilon(published, people.n, protocol) == pytest.approx(1.0, abs=1e-8)
