"""Fast transforms of histograms, in exact whole numbers."""

from math import log2

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, IntArray
from ldp3.errors import LDPError
from ldp3.kernels.compile import njit

SAFE = 0.25  # rounding errors up to this cannot make one whole number another one


def correlation(counts: IntArray, members: BoolArray, size: int) -> IntArray:
    r"""$T_v = \sum_u y_u\,[(u + v) \bmod K \in D]$ for v < `size`, in whole numbers.

    By real FFTs. The error of one is bounded before it is made: for vectors of norms $‖x‖$ and
    $‖y‖$ and a length $N$ it is below $32 \log_2 N \cdot 2^{-53} ‖x‖ ‖y‖$ (Percival's bound with a
    factor of two to spare for the radices 3 and 5). Counts too large for one FFT are taken in
    several pieces of their binary digits. All results are then seen to be near whole numbers.

    References
    ----------
    Percival. *Rapid multiplication modulo the sum and difference of highly composite numbers.*
    Mathematics of Computation, 2003.
    """
    points, inside = len(counts), int(np.count_nonzero(members))
    length = _smooth(points + size - 1)
    around = np.concatenate([members, members[: size - 1]])  # once around and on
    spectrum = np.fft.rfft(around, length)
    per_norm = 32 * log2(length) * 2.0**-53 * float(np.count_nonzero(around)) ** 0.5
    mean = int(counts.sum()) // points
    away = counts - mean
    digits = max(1, int(log2(SAFE / per_norm / points**0.5)))  # of a piece
    pieces = [away] if _norm(away) * per_norm < SAFE else _pieces(away, digits)
    total: IntArray = np.full(size, mean * inside, dtype=np.int64)
    for place, piece in enumerate(pieces):
        total += _correlated(piece, spectrum, length, size) * 2 ** (digits * place)
    return total


def _correlated(
    piece: IntArray, spectrum: NDArray[np.complex128], length: int, size: int
) -> IntArray:
    product = np.conj(np.fft.rfft(piece, length))
    product *= spectrum
    exact = np.fft.irfft(product, length)[:size]
    near = np.rint(exact)
    if np.abs(exact - near).max(initial=0.0) > SAFE:
        raise LDPError(
            "The rounding of an FFT is larger than its bound: do not trust this machine."
        )
    return near.astype(np.int64)


def _norm(numbers: IntArray) -> float:
    return float(np.sqrt(np.square(numbers.astype(np.float64)).sum()))


def _pieces(numbers: IntArray, digits: int) -> list[IntArray]:
    """Numbers as sums of pieces times powers of 2^digits; all but the last are not negative."""
    pieces = []
    while np.abs(numbers).max() >> digits:
        pieces.append(numbers & ((1 << digits) - 1))
        numbers = numbers >> digits
    return [*pieces, numbers]


def _smooth(least: int) -> int:
    """The first number from `least` on without prime factors above 5: FFTs are fast there.

    >>> _smooth(1023)
    1024
    """
    best = 1 << (least - 1).bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            rest = -(-least // three)
            best = min(best, three << (rest - 1).bit_length())
            three *= 3
        five *= 5
    return best


def walsh_hadamard(numbers: IntArray, order: int) -> IntArray:
    r"""$\sum_y (-1)^{\langle i, y \rangle} x_y$ in each block of `order`, a power of two."""
    total = np.array(numbers, dtype=np.int64)
    _walsh_hadamard(total, order)
    return total


@njit
def _walsh_hadamard(total: IntArray, order: int) -> None:
    half = 1
    while half < order:
        for start in range(0, total.size, 2 * half):
            for i in range(start, start + half):
                one, other = total[i], total[i + half]
                total[i], total[i + half] = one + other, one - other
        half *= 2
