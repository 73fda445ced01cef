import numpy as np
import pytest

import ldp3

TRUTH, ESTIMATE = np.array([0.5, 0.25, 0.25, 0.0]), np.array([0.75, 0.5, -0.5, 0.25])


@pytest.mark.parametrize(
    ("spec", "by_hand"),
    [("l1", 1.5), ("l2", 0.75**0.5), ("mae", 0.375), ("mse", 0.1875), ("linf", 0.75), ("tv", 0.75)],
)
def test_numbers_by_hand(spec: str, by_hand: float) -> None:
    assert ldp3.metric(spec)(TRUTH, ESTIMATE) == pytest.approx(by_hand, rel=1e-15)
