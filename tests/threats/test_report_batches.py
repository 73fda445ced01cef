"""Reports as they go by: what is remembered of them, and samples."""

import numpy as np
import pytest
from scipy.stats import binom

import ldp3
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


def test_a_sample_of_reports_has_its_size_and_misses_nobody() -> None:
    rng, reports = ldp3.stream(9), np.arange(100)
    times = np.zeros(100, dtype=np.int64)
    for _ in range(400):
        cut = iter([reports[:30], reports[30:31], reports[31:]])
        chosen = np.concatenate(list(report_batches.sampled(cut, 100, 20, rng)))
        assert len(np.unique(chosen)) == 20
        times[chosen] += 1
    p = binom.sf(times.max() - 1, 400, 0.2) * 100, binom.cdf(times.min(), 400, 0.2) * 100
    assert min(p) > ALPHA
