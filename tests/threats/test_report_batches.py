"""Reports as they go by: what is remembered of them, and samples."""

import numpy as np
import pytest
from scipy.stats import binom

from ldp3.threats import report_batches

ALPHA = 1e-6


def test_repeats_are_counted_with_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_batches, "KEYS", 1_000)
    repeats, seeds = report_batches.Repeats(), np.arange(50_000, dtype=np.uint64)
    for start in range(0, 50_000, 5_000):
        repeats.add(seeds[start : start + 5_000])
        assert repeats.again == 0
        assert len(repeats._keys) <= 1_000
    repeats.add(seeds)
    kept = len(repeats._keys)
    assert repeats.share < 1
    assert repeats.again == kept  # each that is remembered was sent once more
    assert binom.sf(kept - 1, 50_000, repeats.share) > ALPHA
    assert binom.cdf(kept, 50_000, repeats.share) > ALPHA
