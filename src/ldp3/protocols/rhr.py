"""Recursive Hadamard response."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log2
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.errors import InvalidData, require, require_values, whole
from ldp3.kernels import transforms
from ldp3.kernels.source import words
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.grr import lie_words, respond
from ldp3.protocols.hr import BlockNoise, expected_inside
from ldp3.protocols.layout import Code
from ldp3.randomness import WORDS
from ldp3.types import Estimate, Tally


@final
@dataclass(frozen=True)
class RHR(FrequencyOracle):
    r"""Recursive Hadamard response: $b$ bits of information about a public column.

    The values are dealt to $B = 2^{b-1}$ blocks, each with a Hadamard matrix. For a random column,
    which may be public, GRR tells the own block and the entry of the own row there, one of $2^b$
    pairs. The noise is exactly that of `hr` with $B$ blocks,

    $$n \mathrm{Var}[\hat f_v] = A + F (A' - A) - f_v, \qquad
      A = \frac{2(e^ε + 2^b - 1)}{(e^ε - 1)^2}, \qquad
      A' = \frac{(e^ε + 2^b - 1)(e^ε + 1)}{(e^ε - 1)^2},$$

    with $F$ the share of users in the block of $v$. For simulation only.

    Parameters
    ----------
    b
        Bits about the column; 0 for the paper's $\lceil ε \log_2 e \rceil$.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = RHR(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Chen, Kairouz, Özgür. *Breaking the communication-privacy-accuracy trilemma.* NeurIPS 2020.
    """

    aliases: ClassVar[tuple[str, ...]] = ("recursive Hadamard response",)
    instead: ClassVar[str] = "hr: the same noise for the same number of blocks, and a better number"

    b: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        most = (self.d - 1).bit_length()  # of bits: then every value is a block
        if self.b == 0:
            object.__setattr__(self, "b", max(1, min(most, ceil(self.epsilon * log2(np.e)))))
        require(whole(self.b, 1, most), self, f"b must be an integer in 1..{most}", self.b)
        sound = self.truth - self.lie > 2**12
        require(sound, self, "epsilon must be > 0 by more than rounding can tell", self.epsilon)

    @property
    def blocks(self) -> int:
        """B."""
        return 1 << (self.b - 1)

    @property
    def order(self) -> int:
        """Of a block's matrix."""
        return 1 << (-(-self.d // self.blocks) - 1).bit_length()

    @cached_property
    def lie(self) -> int:
        """Words, of 2⁶⁴, that give one particular wrong pair."""
        return lie_words(self.epsilon, 2 * self.blocks)

    @cached_property
    def truth(self) -> int:
        """Words, of 2⁶⁴, that give the right pair."""
        return WORDS - (2 * self.blocks - 1) * self.lie

    @property
    def kept(self) -> float:
        """By how much the right pair is likelier than any other."""
        return (self.truth - self.lie) / WORDS

    @property
    def privacy_ratio(self) -> Fraction:
        return Fraction(self.truth, self.lie)

    @property
    def layout(self) -> Code:
        return Code(2 * self.blocks * self.order)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        columns = rng.integers(self.order, size=len(codes))
        block, row = codes % self.blocks, codes // self.blocks
        pairs, told = 2 * block + np.bitwise_count(row & columns) % 2, np.empty_like(codes)
        respond(pairs, words(rng, len(codes)), np.uint64(self.truth), np.uint64(self.lie), told)
        block, entry = np.divmod(told, 2)
        return (2 * (block * self.order + columns) + entry).astype(self.layout.dtype)

    def aggregate(self, reports: Reports) -> Tally:
        """How often each report was sent."""
        self.require_valid(reports)
        return Tally(np.bincount(reports, minlength=self.layout.values), len(reports))

    def estimate(self, tally: Tally) -> Estimate:
        self.require_histogram(tally, self.layout.values)
        if tally.n < 1:
            raise InvalidData("RHR: an estimate needs at least one report.")
        counts = tally.total.reshape(self.blocks, self.order, 2)
        signs = (counts[:, :, 0] - counts[:, :, 1]).reshape(-1)
        rows = transforms.walsh_hadamard(signs, self.order).reshape(self.blocks, self.order)
        noise = BlockNoise.of(self.kept, counts.sum(axis=(1, 2)), tally.n)
        return Estimate(rows.T.reshape(-1)[: self.d] / (tally.n * self.kept), tally, noise)

    def noise(self, frequencies: FloatArray, n: int) -> BlockNoise:
        inside = expected_inside(frequencies, self.blocks, self.kept, n)
        return BlockNoise.of(self.kept, inside, n)
