"""One report from 64-bit words, in plain integers: what a client in any language must do.

A report is a whole number below $2^{\\mathrm{report\\_bits}}$. This is the definition that
`docs/wire-format.md` states and its test vectors pin down; the kernels of the protocols draw from
the same law, many users at a time, and take their words in another order.
"""

from collections.abc import Iterator

from ldp3.errors import InvalidParameter
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.grr import GRR
from ldp3.protocols.local_hashing import LocalHashing
from ldp3.protocols.subset_selection import SS
from ldp3.protocols.unary import UnaryEncoding

HASH_VERSION = 1  # of the family of hash functions: a seed names another function in another one
_WORD = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def draw(oracle: FrequencyOracle, value: int, words: Iterator[int]) -> int:
    """The report of a user who holds `value`, from uniform 64-bit words."""
    if isinstance(oracle, GRR):
        return respond(value, next(words), oracle.truth, oracle.lie)
    if isinstance(oracle, UnaryEncoding):
        return _bits(oracle, value, words)
    if isinstance(oracle, LocalHashing):
        seed, choice = next(words), next(words)
        cell = hashed(seed, value, oracle.low_bits, oracle.g)
        return seed | respond(cell, choice, oracle.truth, oracle.lie) << 64
    if isinstance(oracle, SS):
        return _subset(oracle, value, words)
    raise no_wire_format(oracle)


def thresholds(oracle: FrequencyOracle) -> dict[str, int]:
    """How many words of 2⁶⁴ lead to each outcome: all that a report's privacy rests on."""
    if isinstance(oracle, GRR | LocalHashing):
        return {"truth": oracle.truth, "lie": oracle.lie}
    if isinstance(oracle, UnaryEncoding):
        return {"own": oracle.own, "other": oracle.other}
    if isinstance(oracle, SS):
        return {"own": oracle.own}
    raise no_wire_format(oracle)


def respond(value: int, word: int, truth: int, lie: int) -> int:
    """The truth below `truth`; the other words fall into equal drawers, one for each lie."""
    if word < truth:
        return value
    drawer = (word - truth) // lie
    return drawer + (drawer >= value)  # step over the true value


def hashed(seed: int, value: int, low_bits: int, g: int) -> int:
    """The cell of `value` under the hash function that `seed` names (tabulation in Z_g)."""
    size = 1 << low_bits
    low, high = value & (size - 1), size + (value >> low_bits)
    return (_entry(seed, low, g) + _entry(seed, high, g)) % g


def no_wire_format(oracle: FrequencyOracle) -> InvalidParameter:
    """What to say of a protocol whose reports are not specified."""
    return InvalidParameter(
        f"{type(oracle).__name__} has no wire format; collect with grr, rappor, oue, blh, olh or "
        f"ss."
    )


def _bits(oracle: UnaryEncoding, value: int, words: Iterator[int]) -> int:
    """One word for every bit, from bit 0 on."""
    report = 0
    for v in range(oracle.d):
        threshold = oracle.own if v == value else oracle.other
        report |= (next(words) < threshold) << v
    return report


def _subset(oracle: SS, value: int, words: Iterator[int]) -> int:
    """A word for the own value, then others, drawn with replacement until k differ."""
    inside = next(words) < oracle.own
    mask = (1 << (oracle.d - 1).bit_length()) - 1
    report, missing = 0, oracle.k - inside
    while missing:
        other = next(words) & mask
        if other < oracle.d and other != value and not report >> other & 1:
            report |= 1 << other
            missing -= 1
    return report | inside << value


def _entry(seed: int, index: int, g: int) -> int:
    """Entry `index` of the seed's table; up to 2¹⁶ cells, one mixed word gives two entries."""
    if g <= 2**16:
        word = _mix(seed + (index // 2 + 1) * _GOLDEN)
        half = word & 0xFFFFFFFF if index % 2 else word >> 32
        return half * g >> 32
    return _mix(seed + (index + 1) * _GOLDEN) * g >> 64


def _mix(z: int) -> int:
    # splitmix64's finaliser (Steele, Lea, Flood 2014)
    z &= _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
    return z ^ z >> 31
