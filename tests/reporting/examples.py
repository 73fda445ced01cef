"""Results to report on: small, of two metrics, and with names that must stay text."""

import numpy as np

import ldp3
from ldp3.arrays import apportion
from ldp3.domain import Labels
from ldp3.people import Dataset
from ldp3.results.table import Results

EVIL = "<script>document.title = 'owned'</script>"
LABELS = ["</script><script>document.title = 'owned'</script>", "<img src=x onerror=alert(1)>",
          "{{ data }}{%", "a & b", "$x_1$", '"quoted"', "a\u2028b", "ordinary"]  # fmt: skip
DATA = Dataset(EVIL, Labels(LABELS), apportion(1 / np.arange(1, 9), 2_000))


def several() -> Results:
    """Two metrics (of one of them more is better), three ε, three protocols, three methods."""
    return ldp3.benchmark(
        DATA, [0.5, 1.0, 2.0], ["grr", "oue", "olh"], ["base_pos", "norm_sub"],
        ["l1", "ndcg(k=3)"], repeats=4,
    )  # fmt: skip


def large() -> Results:
    """A domain that no chart can show whole."""
    domain = Labels([f"v{i}" for i in range(1000)])
    data = Dataset("large", domain, apportion(1 / np.arange(1, 1001), 10_000))
    return ldp3.benchmark(data, 1.0, ["oue"], ["norm_sub"], "l1", repeats=2)
