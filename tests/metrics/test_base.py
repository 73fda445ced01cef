import numpy as np
import pytest

import ldp3
from ldp3.errors import InvalidData
from ldp3.kinds import find
from ldp3.metrics.base import Metric


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("ℓ1 distance", "l1"),
        ("L2", "l2"),
        ("KL-divergence", "kl"),
        ("Kullback-Leibler Divergence", "kl"),
        ("Earth Mover's Distance", "emd"),
        ("EMD", "emd"),
        ("top-k", "top_k"),
        ("range query", "range_query"),
    ],
)
def test_the_paper_s_spellings_work(spelling: str, name: str) -> None:
    assert type(ldp3.metric(spelling)) is find(Metric)[name]


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(ldp3.LDPError, match=r"No metric is called 'helinger'. Did you mean 'hell"):
        ldp3.metric("helinger")


def test_what_cannot_be_compared_is_said_in_one_line() -> None:
    metric, good = ldp3.metric("l1"), np.array([0.5, 0.5])
    with pytest.raises(InvalidData, match="lengths must agree, got 2 truth and 3 frequencies"):
        metric(good, np.ones(3))
    with pytest.raises(InvalidData, match="frequencies must be finite, got nan at 1"):
        metric(good, np.array([0.5, np.nan]))
    with pytest.raises(InvalidData, match="truth must be finite, got -inf at 0"):
        metric(np.array([-np.inf, 1]), good)
    with pytest.raises(InvalidData, match="not empty"):
        metric(np.array([]), np.array([]))
