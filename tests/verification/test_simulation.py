"""The contract looks at corners of rectangles: a hash of two halves may tie them together."""

import numpy as np
import pytest

from ldp3.arrays import BoolArray, IntArray, Reports
from ldp3.errors import require_values
from ldp3.protocols.local_hashing import BLH
from ldp3.protocols.pure import PureOracle, independent_supports
from ldp3.types import Tally
from ldp3.verification.base import Finding
from ldp3.verification.cases import OracleCase
from ldp3.verification.simulation import simulation


class TwoTables(PureOracle):
    """BLH with a bit for each half of a code: the parity of a rectangle's corners is fixed."""

    @property
    def p(self) -> float:
        return float(1 / (1 + np.exp(-self.epsilon)))

    @property
    def q(self) -> float:
        return 0.5

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        reports = rng.integers(2, size=(len(codes), 33), dtype=np.uint8)
        own = self._bits(reports, codes.astype(np.int64))
        reports[:, 32] = own ^ (rng.random(len(codes)) >= self.p)
        return reports

    def _bits(self, reports: Reports, codes: IntArray) -> Reports:
        everyone = np.arange(len(reports))
        return reports[everyone, codes % 16] ^ reports[everyone, 16 + codes // 16]

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return np.asarray(self._bits(reports, np.full(len(reports), value)) == reports[:, 32])

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        return independent_supports(self.support, histogram, rng)


def joint_law(oracle: PureOracle) -> Finding:
    findings = simulation(OracleCase(oracle))
    name = "`simulate` has the law of the user path, for 6 people"
    return next(f for f in findings if f.check == name)


@pytest.mark.parametrize("d", [20, 70])
def test_tied_corners_are_seen(d: int) -> None:
    assert not joint_law(TwoTables(epsilon=1.0, d=d)).passed


@pytest.mark.parametrize("d", [4, 20, 70])
def test_our_hash_ties_none(d: int) -> None:
    assert joint_law(BLH(epsilon=1.0, d=d)).passed
