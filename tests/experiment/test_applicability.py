import numpy as np
import pytest

from ldp3 import benchmark, protocols
from ldp3.domain import Labels
from ldp3.errors import InvalidParameter
from ldp3.people import Dataset
from tests.experiment.running import simulator

LABELS = Dataset("colours", Labels(["red", "green", "blue"]), np.array([500, 300, 200]))
BINS = Dataset("ages", Labels(["0-9", "10-19", "20-29"], ordered=True), np.array([500, 300, 200]))


def test_a_method_that_needs_an_order_is_refused_for_labels_without_one() -> None:
    with pytest.raises(InvalidParameter, match=r"multiscale_ordered goes by .* `ordered`"):
        benchmark(LABELS, 1, "grr", "multiscale_ordered")
    with pytest.raises(InvalidParameter, match="colours: "):
        benchmark([BINS, LABELS], 1, "grr", "multiscale_ordered+norm_sub")


def test_it_is_used_where_the_order_means_something() -> None:
    results = benchmark(BINS, 1, "grr", "multiscale_ordered", repeats=2)
    assert set(results.table["method"]) == {"none", "multiscale_ordered"}


def test_as_one_of_all_methods_it_is_left_out_with_a_note() -> None:
    mixed = simulator([BINS, LABELS], 1, "grr", "all")
    assert "Multi-scale ordered does not apply to colours: labels without an order." in mixed.notes
    results = benchmark([BINS, LABELS], 1, "grr", "all", repeats=1)
    used = results.table.filter(method="multiscale_ordered")["dataset"].unique().to_list()
    assert used == ["ages"]
    assert not any("multiscale_ordered" in note for note in simulator(BINS, 1, "grr", "all").notes)


def test_a_protocol_that_needs_an_order_is_refused_or_left_out_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocols.GRR, "needs_order", True)
    with pytest.raises(InvalidParameter, match=r"colours: grr goes by an order"):
        benchmark([BINS, LABELS], 1, "grr", "none")
    usual = simulator([BINS, LABELS], 1, "usual", "none")
    assert {cell.dataset for cell in usual.cells if cell.protocol == "grr"} == {"ages"}
    assert {cell.dataset for cell in usual.cells if cell.protocol == "oue"} == {"ages", "colours"}
    assert "GRR does not apply to colours: labels without an order." in usual.notes


def test_who_compares_by_an_order_that_no_protocol_goes_by_is_told_which_do() -> None:
    def told(data: Dataset, protocols: str | list[str], metric: str) -> bool:
        return any("compare sw" in n for n in simulator(data, 1, protocols, "none", metric).notes)

    assert told(BINS, "paper", "emd")
    assert not told(BINS, "paper", "l1")
    assert not told(LABELS, "paper", "emd")
    assert not told(BINS, "all", "emd")
    assert not told(BINS, ["grr", "oue"], "emd")  # chosen


def test_order_survives_being_scaled() -> None:
    assert BINS.scaled(100).ordered
