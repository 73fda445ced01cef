"""The client: secure, light, fixed size, and with a memory if asked."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ldp3
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.client import Client
from ldp3.collection.plan import Plan, deployable
from ldp3.domain import Labels
from ldp3.errors import InvalidParameter, InvalidValue
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import SecureGenerator, Words
from ldp3.tails import binomial_p
from ldp3.verification.base import ALPHA
from tests.collection import suited

SPECS = deployable()
COLOURS = ("red", "green", "blue", "other")


@pytest.mark.parametrize("spec", SPECS)
def test_reports_are_counted_and_estimate_the_truth(spec: str) -> None:
    plan = Plan("colours", suited(spec, COLOURS), spec, 2.0)
    client, server, n = Client(plan), Aggregator(plan), 3_000
    server.add([client.report("green") for _ in range(n)])
    assert (server.n, server.refused) == (n, {})
    if isinstance(plan.oracle, PureOracle):
        expected = np.where(np.arange(4) == 1, plan.oracle.p, plan.oracle.q)
        counts = plan.oracle.support_counts(server.tally)
        assert (binomial_p(counts, n, expected) >= ALPHA / 4 / len(SPECS)).all()
    else:
        estimate, truth = server.estimate(), np.arange(4) == 1
        z = (estimate.frequencies - truth) / np.sqrt(estimate.noise.variance(truth.astype(float)))
        assert np.abs(z).max() < 6  # 2·10⁻⁹ for each value


@pytest.mark.parametrize("spec", SPECS)
def test_every_report_has_the_same_size_whatever_the_value(spec: str) -> None:
    plan = Plan("numbers", suited(spec, 300), spec, 1.0)
    client = Client(plan)
    assert {len(client.report(v)) for v in (0, 1, 255, 256, 299)} == {plan.report_bytes}


def test_a_client_draws_from_a_secure_generator_and_takes_no_other() -> None:
    client = Client(Plan("numbers", 300, "olh", 1.0))
    assert isinstance(client._rng, SecureGenerator)
    assert list(inspect.signature(Client).parameters) == [
        "plan", "memo", "person", "plugins", "max_epsilon",
    ]  # fmt: skip
    assert list(inspect.signature(Client.report).parameters) == ["self", "value"]
    assert len({client.report(0) for _ in range(100)}) == 100  # 64-bit seeds


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_client_draws_other_words() -> None:
    client = Client(Plan("numbers", 300, "olh", 1.0))
    client.report(0)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, client.report(0))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 100) != client.report(0)
    os.close(read)
    os.close(write)


@pytest.mark.parametrize("spec", ["oue", "rappor", "ss"])
def test_a_report_takes_passes_over_the_domain_at_most_as_its_number_of_digits(spec: str) -> None:
    steps = {d: calls_for(ldp3.oracle(spec, epsilon=1.0, d=d)) for d in (2**10, 2**20)}
    assert steps[2**20] <= 2 * steps[2**10]  # SS draws again what it drew twice, until none is


def calls_for(oracle: FrequencyOracle) -> int:
    """Calls of functions, Python's and C's, that one report takes, from the same words."""
    counted = []
    words = Words.drawn(ldp3.stream(0))
    sys.setprofile(lambda frame, event, what: counted.append(event))
    try:
        oracle.draw(0, words)
    finally:
        sys.setprofile(None)
    return len(counted)


def test_a_value_outside_very_many_labels_is_refused_without_a_hint() -> None:
    labels = tuple(f"label{i}" for i in range(200_000))
    with pytest.raises(InvalidValue, match=r"nothing was sent: .*\(200000 labels\)\.$"):
        Client(Plan("many", labels, "olh", 1.0)).report("lable7")


def test_a_value_outside_is_refused_or_sent_as_other() -> None:
    with pytest.raises(InvalidValue, match=r"'gren' is not in the domain.*Did you mean 'green'"):
        Client(Plan("colours", COLOURS, "grr", 1.0)).report("gren")
    open_plan = Plan("colours", Labels(COLOURS, other="other"), "grr", 30.0)
    server = Aggregator(open_plan)
    server.add([Client(open_plan, max_epsilon=30).report("mauve")])
    assert server.total.tolist() == [0, 0, 0, 1]


LIGHT = """
import sys
for name in ("numba", "llvmlite", "scipy", "polars", "cyclopts", "rich", "matplotlib"):
    sys.modules[name] = None  # as if it were not installed
from ldp3.collection.client import Client
from ldp3.collection.plan import Plan, deployable
from ldp3.domain import Bins, Grid, Labels
colours = Labels(["red", "green", "blue", "other"], ordered=True)
for spec in deployable():
    Plan("colours", colours, spec, 1.0).save(spec)
    client = Client(spec, memo="memo")
    assert client.report("red") == client.report("red"), spec
    assert len(Client(spec).report("blue")) == client.plan.report_bytes, spec
    print(spec)
for domain, value in (
    (Bins((0, 18, 65, 120)), 17.5),
    (Bins(("2026-01-01", "2026-07-01", "2027-01-01"), dates=True), "2026-03-29"),
    (Grid((0, 1, 2), (5, 6, 7), other="elsewhere"), (1.5, 6)),
):
    plan = Plan("numbers", domain, "oue", 1.0)
    plan.save(f"{plan.identifier}.json")
    assert len(Client(f"{plan.identifier}.json").report(value)) == 9
"""


def test_a_client_needs_no_more_than_numpy_and_the_generator(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", LIGHT], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert run.stdout.split() == SPECS


def test_the_package_gives_client_and_aggregator() -> None:
    assert ldp3.Client is Client
    assert ldp3.Aggregator is Aggregator
    with pytest.raises(AttributeError):
        ldp3.Cliente  # noqa: B018


def test_who_is_to_be_mixed_with_others_takes_no_memo(tmp_path: Path) -> None:
    plan = Plan("colours", COLOURS, "olh", 1.0, batch=1_000, delta=1e-6)
    with pytest.raises(InvalidParameter, match="a memo sends the same report again, by which"):
        Client(plan, memo=tmp_path / "memo")
    assert Client(plan).report("red") != Client(plan).report("red")
