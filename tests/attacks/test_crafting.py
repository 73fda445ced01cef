"""What fake users can send follows from what the oracle says, whatever its class."""

import numpy as np
import pytest

import ldp3
from ldp3.arrays import BoolArray, Reports
from ldp3.attacks import crafting
from ldp3.attacks.base import Attack, build_attack
from ldp3.kinds import find
from ldp3.protocols.pure import PureOracle
from tests.verification.planted.honest import HonestClient, HonestColumns, HonestUnary
from tests.verification.planted.unusual import SaltedReports

HONEST = np.array([40, 30, 10, 8, 5, 3, 2, 1])
TARGETS = (1, 4, 6)


def pure(spec: str, d: int = 8) -> PureOracle:
    oracle = ldp3.oracle(spec, 1.0, d)
    assert isinstance(oracle, PureOracle)
    return oracle


@pytest.mark.parametrize(
    ("spec", "family"),
    [
        ("grr", "one"), ("ss(k=1)", "one"), ("ss(k=3)", "subset"), ("oue", "free"),
        ("the", "free"), ("olh", "hash"), ("olh(g=49)", "hash"), ("blh", "hash"),
        ("hrr", "search"), ("pgr", "search"), ("pi_rappor(q=2)", "search"),
    ],
)  # fmt: skip
def test_families_of_reports(spec: str, family: str) -> None:
    assert crafting.family(pure(spec)) == family


class Crafted(HonestUnary):
    """A plug-in that says how its reports are made to order."""

    @property
    def support_sizes(self) -> tuple[int, int]:
        return 0, self.d

    def report_of(self, members: BoolArray) -> Reports:
        return members.astype(np.uint8)


@pytest.mark.parametrize(
    ("cls", "family"),
    [
        (Crafted, "free"),
        (HonestUnary, "search"),
        (HonestClient, "search"),
        (SaltedReports, "search"),
        (HonestColumns, "search"),  # a nonce, but one whose answers are far from independent
    ],
)
def test_a_plug_in_is_attacked_by_what_it_says(cls: type[PureOracle], family: str) -> None:
    oracle = cls(epsilon=1.0, d=8)
    assert crafting.family(oracle) == family
    for name in find(Attack):
        attack = build_attack(name, targets=TARGETS, honest=HONEST)
        if not attack.applies(oracle):
            assert name == "steer"
            continue
        reports = attack.reports(oracle, 9, ldp3.stream(1, name))
        assert len(reports) == np.count_nonzero(oracle.valid(reports)) == 9
        assert attack.tally(oracle, 9, ldp3.stream(2, name)).n == 9


def test_of_few_reports_the_best_are_found() -> None:
    oracle = pure("hrr")
    best = crafting.all_best(oracle, np.array(TARGETS))
    every = crafting.every_report(oracle)
    held = crafting.hits(oracle, every, np.array(TARGETS))
    assert set(best.tolist()) == set(every[held == held.max()].tolist())
    assert crafting.listed(pure("oue"))
    assert not crafting.listed(pure("oue", 21))
    assert not crafting.listed(pure("olh"))


def test_reports_of_single_values_are_made_once_for_each_value() -> None:
    for spec in ("grr", "ss(k=1)", "oue"):
        oracle, values = pure(spec), np.array([3, 0, 3, 7])
        held = [oracle.supports(crafting.crafted_for(oracle, values), v) for v in range(8)]
        assert ((values[:, None] == np.arange(8)) == np.array(held).T).all()


def test_the_best_of_many_hash_functions() -> None:
    # two targets and two cells: together with probability ½, and with 1 - 2⁻³ in one of three
    assert crafting.best_of(1, 2, 2) == pytest.approx([0, 0.5, 0.5])
    assert crafting.best_of(3, 2, 2) == pytest.approx([0, 0.125, 0.875])
    assert crafting.best_of(50, 5, 7).sum() == pytest.approx(1.0)
