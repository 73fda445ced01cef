"""Verdicts: what `ldp3 verify` and `ldp3.verify` say of protocols, methods and metrics."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pytest
from ldp3.catalog import find

import ldp3
from ldp3 import LDPError
from ldp3.arrays import FloatArray, as_distribution
from ldp3.cli import main
from ldp3.metrics.base import Metric
from ldp3.postprocessing.base import PostProcessor
from ldp3.types import Estimate, Oracle

PLANTED = str(Path(__file__).parent / "planted.py")
METHODS = find(PostProcessor)  # type: ignore[type-abstract]
METRICS = find(Metric)  # type: ignore[type-abstract]


@pytest.mark.parametrize("spec", [*METHODS, "power+norm_sub", *METRICS])
def test_our_methods_and_metrics_pass(spec: str) -> None:
    verdict = ldp3.verify(spec)
    assert verdict.passed, verdict


def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[object, str, str]:
    monkeypatch.setattr(sys, "argv", ["ldp3", "verify", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return (caught.value.code or 0, *capsys.readouterr())


def test_a_bug_in_a_file_ends_with_exit_code_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "lying_ratio"
    given = [name, "--plugin", PLANTED, "--format", "json"]
    code, out, _ = command(capsys, monkeypatch, *given)
    assert code == 1
    (verdict,) = json.loads(out)
    assert verdict["name"] == name
    assert not verdict["passed"]
    failed = [f for f in verdict["findings"] if not f["passed"]]
    settings = {f["setting"] for f in verdict["findings"]}
    assert {"epsilon=0.5, d=2", "epsilon=1, d=1000"} <= settings
    assert any(f["check"].startswith("No event tells") and f["draws"] > 0 for f in failed)


def test_a_sound_method_ends_with_exit_code_0(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = command(capsys, monkeypatch, "norm_sub", "l1")
    assert (code, err) == (0, "")
    assert "norm_sub: passed" in out
    assert "l1: passed" in out


@pytest.mark.parametrize("given", [["oul"], [], ["l1", "--format", "xml"]])
def test_a_mistake_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, given: list[str]
) -> None:
    code, out, err = command(capsys, monkeypatch, *given)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_an_oracle_is_examined_as_it_is() -> None:
    verdict = ldp3.verify(ldp3.oracle("grr", epsilon=1.0, d=3))
    assert verdict.passed
    assert {f.setting for f in verdict.findings} == {"epsilon=1, d=3"}
    assert verdict.alpha == pytest.approx(1e-6 * sum(f.alpha > 0 for f in verdict.findings))
    assert "declared 1" in repr(verdict)


def test_what_is_nothing_of_ours_is_refused() -> None:
    with pytest.raises(LDPError, match="A protocol, method or metric is needed, got 3"):
        ldp3.verify(3)


@dataclass(frozen=True)
class Fine(PostProcessor):
    distribution: ClassVar[bool] = True
    keeps_order: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        return as_distribution(estimate.frequencies)


class NotQuiteOne(Fine):
    def refine(self, estimate: Estimate) -> FloatArray:
        return super().refine(estimate) * (1 + 1e-9)


class Nan(Fine):
    def refine(self, estimate: Estimate) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            positive = np.maximum(estimate.frequencies, 0)
            return np.asarray(positive / positive.sum())


class InPlace(Fine):
    def refine(self, estimate: Estimate) -> FloatArray:
        np.maximum(estimate.frequencies, 0, out=estimate.frequencies)
        return super().refine(estimate)


class SameArray(Fine):
    distribution: ClassVar[bool] = False

    def refine(self, estimate: Estimate) -> FloatArray:
        return estimate.frequencies


class Random(Fine):
    def refine(self, estimate: Estimate) -> FloatArray:
        noise = np.random.Generator(np.random.PCG64()).random(estimate.d)
        return as_distribution(estimate.frequencies + 1e-6 * noise)


class Disorderly(Fine):
    def refine(self, estimate: Estimate) -> FloatArray:
        return super().refine(estimate)[::-1].copy()


class Short(Fine):
    def refine(self, estimate: Estimate) -> FloatArray:
        return super().refine(estimate)[:4]


class Raises(Fine):
    def refine(self, estimate: Estimate) -> FloatArray:
        return as_distribution(estimate.frequencies / int(estimate.frequencies.max() > 0))


class NeverApplies(Fine):
    def applies(self, oracle: Oracle) -> bool:
        return False


@pytest.mark.parametrize(
    "cls",
    [NotQuiteOne, Nan, InPlace, SameArray, Random, Disorderly, Short, Raises, NeverApplies],
)
def test_a_method_with_a_bug_is_caught(cls: type[PostProcessor]) -> None:
    assert ldp3.verify(Fine).passed
    assert not ldp3.verify(cls).passed


@dataclass(frozen=True)
class Distance(Metric):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(np.abs(truth - frequencies).sum())


class WrongDirection(Distance):
    better: ClassVar[Literal["lower", "higher"]] = "higher"


class Signed(Distance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float((truth - frequencies).sum())


class NotZeroAtTheTruth(Distance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return super().compare(truth, frequencies) + 1e-6


class InfiniteAtZero(Distance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.abs(np.log(truth / frequencies)).sum())


class Overwrites(Distance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        frequencies -= truth
        return float(np.abs(frequencies).sum())


class Vector(Distance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return np.abs(truth - frequencies)  # type: ignore[return-value]


class Blind(Distance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return 0.0


@pytest.mark.parametrize(
    "cls",
    [WrongDirection, Signed, NotZeroAtTheTruth, InfiniteAtZero, Overwrites, Vector, Blind],
)
def test_a_metric_with_a_bug_is_caught(cls: type[Metric]) -> None:
    assert ldp3.verify(Distance).passed
    assert not ldp3.verify(cls()).passed
