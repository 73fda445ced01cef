from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldp3.domain import Labels
from ldp3.errors import LDPError
from ldp3.experiment.grid import Experiment
from ldp3.experiment.grid import experiment as build
from ldp3.experiment.schedule import blocks
from ldp3.metrics.distances import L1
from ldp3.metrics.ranking import TopK
from ldp3.people import Dataset
from ldp3.postprocessing.normalising import NormSub
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.grr import GRR
from tests.experiment.running import simulator

DATA = Dataset("small", Labels(["a", "b", "c"]), np.array([50, 30, 20]))


def experiment(data: Dataset, *grid: Any, **options: Any) -> Experiment:
    return build([data], *grid, **options)


def methods_of(ex: Experiment) -> list[str]:
    return [c.spec for c in ex.methods]


def test_none_is_always_there_and_first() -> None:
    assert methods_of(experiment(DATA, 1, "grr", "norm_sub")) == ["none", "norm_sub"]
    assert methods_of(experiment(DATA, 1, "grr", ["norm_sub", "none"])) == ["none", "norm_sub"]


def test_every_spelling_of_a_thing_is_the_same_thing() -> None:
    ex = experiment(DATA, [1, 1.0], ["grr", "GRR", "k-RR"], ["Norm-Sub", "normsub"], ["L1", "l1"])
    assert ex.epsilons == (1.0,)
    assert [c.spec for c in ex.protocols] == ["grr"]
    assert methods_of(ex) == ["none", "norm_sub"]
    assert [c.spec for c in ex.metrics] == ["l1"]


def test_paper_means_the_papers_protocols_in_its_order() -> None:
    ex = experiment(DATA, 1, "paper", "norm_sub")
    assert tuple(c.spec for c in ex.protocols) == ("grr", "rappor", "oue", "blh", "olh", "ss")


def test_all_holds_more_than_the_paper() -> None:
    names = methods_of(experiment(DATA, 1, "grr", "all"))
    assert {"base_cut", "em", "norm_sub"} <= set(names)


@pytest.mark.parametrize(
    ("metrics", "made"),
    [("l1", {"completed"}), ("l2", set()), (["tv", "kl"], {"completed", "completed_mean"})],
)
def test_of_all_methods_those_take_part_that_some_metric_wants(
    metrics: Any, made: set[str]
) -> None:
    names = methods_of(experiment(DATA, 1, "grr", "all", metrics))
    assert {name for name in names if name.startswith("completed")} == made
    assert methods_of(experiment(DATA, 1, "grr", "completed", "l2"))[1:] == ["completed"]


def test_classes_and_objects_may_be_handed_in() -> None:
    ex = experiment(DATA, 1, GRR, [NormSub], [L1(), TopK(k=2)])
    assert [c.spec for c in ex.protocols] == ["grr"]
    assert [c.spec for c in ex.metrics] == ["l1", "top_k(k=2)"]


def test_two_things_with_one_name_are_refused() -> None:
    @dataclass(frozen=True)
    class GRR(FrequencyOracle):
        pass

    with pytest.raises(LDPError, match=r"test_grid.py:\d+: 'grr' is the name of a protocol"):
        experiment(DATA, 1, ["oue", GRR], "norm_sub")


def test_an_oracle_that_is_built_already_is_refused() -> None:
    with pytest.raises(LDPError, match="sets epsilon and d itself"):
        experiment(DATA, 1, GRR(1.0, 3), "norm_sub")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"epsilons": []}, "at least one `epsilons`"),
        ({"epsilons": [0.0]}, "`epsilons` must be numbers > 0, got 0.0"),
        ({"epsilons": [float("inf")]}, "`epsilons` must be"),
        ({"repeats": 0}, "`repeats` must be at least 1"),
        ({"seed": -1}, "`seed` must be at least 0"),
        ({"simulate": "fast"}, "`simulate` is 'exact' or 'users'"),
        ({"reference": "f"}, "`reference` is 'truth' or 'raw'"),
        ({"protocols": []}, "at least one"),
        ({"protocols": "oul"}, "Did you mean 'oue'"),
        ({"metrics": 3}, "got 3"),
        ({"plugins": ["nowhere.py"]}, "a Python file that exists"),
    ],
)
def test_nonsense_is_refused_in_one_line(changes: dict[str, object], reason: str) -> None:
    given: dict[str, object] = {"protocols": "grr", "methods": "norm_sub", **changes}
    with pytest.raises(LDPError, match=reason) as caught:
        experiment(DATA, **given)
    assert "\n" not in str(caught.value)


def test_blocks_cover_every_repeat_once() -> None:
    small = simulator(DATA, [0.5, 1], ["grr", "oue"], "norm_sub")
    done = {replace(cell, repeat=r) for cell in small.cells for r in (0, 4, 5)}
    for start, stop in ((0, 1), (0, 3), (0, 10), (3, 100)):
        cut = blocks(small, start, stop, done)
        covered = [cell for block in cut for cell in block.cells]
        every = [replace(c, repeat=r) for c in small.cells for r in range(start, stop)]
        assert len(covered) == len(set(covered))
        assert set(covered) == set(every) - done


def test_a_cell_of_many_chunks_is_a_block_of_its_own() -> None:
    many = Dataset("many", Labels(["a", "b"]), np.array([2**19, 2**19]))
    by_users = simulator(many, 1, "grr", "norm_sub", simulate="users")
    assert by_users.chunks(by_users.cells[0]) > 8
    assert {len(block) for block in blocks(by_users, 0, 100, ())} == {1}


def test_the_identity_tells_what_changes_the_numbers(tmp_path: Path) -> None:
    base = experiment(DATA, 1, "grr", "norm_sub")
    other = Dataset("small", Labels(["a", "b", "c"]), np.array([50, 29, 21]))
    assert base.key == experiment(DATA, 1.0, ["GRR"], "norm_sub").key
    different = [
        experiment(other, 1, "grr", "norm_sub"),
        experiment(DATA, 2, "grr", "norm_sub"),
        experiment(DATA, 1, "oue", "norm_sub"),
        experiment(DATA, 1, "grr", "norm"),
        experiment(DATA, 1, "grr", "norm_sub", "l2"),
        experiment(DATA, 1, "grr", "norm_sub", seed=1),
        experiment(DATA, 1, "grr", "norm_sub", repeats=11),
        experiment(DATA, 1, "grr", "norm_sub", simulate="users"),
        experiment(DATA, 1, "grr", "norm_sub", reference="raw"),
    ]
    assert len({ex.key for ex in [base, *different]}) == 1 + len(different)


def test_the_source_of_a_plug_in_is_part_of_the_identity(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    source = "from ldp3.metrics.distances import L1\nclass Mine(L1): pass\nA = 1\n"
    plugin.write_text(source)
    before = experiment(DATA, 1, "grr", "norm_sub", plugins=[plugin]).key
    plugin.write_text(source + "A = 2\n")
    assert experiment(DATA, 1, "grr", "norm_sub", plugins=[plugin]).key != before


def test_the_users_order_is_not_shipped() -> None:
    data = Dataset("kept", Labels(["a", "b"]), np.array([1, 1]), values=np.array([1, 0]))
    assert experiment(data, 1, "grr", "norm_sub").datasets[0].values is None
