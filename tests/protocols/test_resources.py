"""Memory follows the reports, not users × domain, and the hostile get nowhere."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp3 import LDPError, oracle, stream
from ldp3.protocols.pure import PureOracle

NAMES = ["grr", "rappor", "oue", "blh", "olh", "ss", "pgr", "hrr"]


@pytest.mark.parametrize("name", NAMES)
def test_memory_stays_near_the_size_of_the_reports(name: str) -> None:
    d, n = 2_000, 20_000
    this = oracle(name, epsilon=1.0, d=d)
    values = np.arange(n) % d
    this.aggregate(this.perturb(values[:10], stream(0)))  # compile first
    tracemalloc.start()
    reports = this.perturb(values, stream(0))
    this.aggregate(reports)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # the reports, a few words per user, and a few vectors of the domain; n·d would be 40 MB
    assert peak < 2 * reports.nbytes + 64 * n + 4_096 * d


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_no_bytes_crash_a_server(name: str, data: st.DataObject) -> None:
    this = oracle(name, epsilon=1.0, d=70)
    assert isinstance(this, PureOracle)
    honest = this.perturb(np.arange(5), stream(0))
    raw = data.draw(st.binary(min_size=honest.nbytes, max_size=honest.nbytes))
    hostile = np.frombuffer(raw, dtype=honest.dtype).reshape(honest.shape)
    ok = this.valid(hostile)
    counts = this.support_counts(this.aggregate(hostile[ok]))
    assert [this.supports(hostile[ok], v).sum() for v in range(70)] == counts.tolist()
    if not ok.all():
        with pytest.raises(LDPError, match=r"is not .*; count only the rows that `valid` accepts"):
            this.aggregate(hostile)
