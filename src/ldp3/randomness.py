"""Where randomness comes from, and exact probabilities to compare it with.

`stream` is for simulation, `secure` for the reports of real people, thresholds are probabilities as
whole numbers over 2⁶⁴, and `Words` is what a client turns into a report.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from hashlib import blake2b
from itertools import islice
from math import ceil, floor
from typing import NoReturn, Self, SupportsIndex
from weakref import WeakSet

import numpy as np

from ldp3.arrays import WordArray
from ldp3.errors import InvalidParameter, short, whole


def stream(seed: int, *key: str | int) -> np.random.Generator:
    """An independent generator for every key: the same today, on any machine and any thread.

    >>> int(stream(0, "oue", 1).integers(100)) == int(stream(0, "oue", 1).integers(100))
    True
    """
    if not whole(seed, 0):
        raise InvalidParameter(f"seed must be an integer of at least 0, got {short(seed)}.")
    for part in key:
        if not isinstance(
            part, str | int | float | np.integer
        ):  # the text of another thing may be its address
            raise InvalidParameter(f"A key is made of texts and numbers, got {short(part)}.")
    parts = "".join(f"{type(part).__name__}:{len(str(part))}:{part};" for part in (seed, *key))
    digest = blake2b(parts.encode(), digest_size=32).digest()
    return np.random.Generator(np.random.PCG64DXSM(int.from_bytes(digest, "little")))


class SecureGenerator(np.random.Generator):
    """ChaCha20 keyed from the operating system: for reports of real people.

    It cannot be seeded, pickled or copied, and a forked process gets a key of its own.
    """

    def __init__(self) -> None:
        self.rekey()
        _alive.add(self)

    def rekey(self) -> None:
        """Forget the stream and start another one.

        The lock is a new one too: in a forked process, the old one may be held by a thread that
        does not exist there.
        """
        from randomgen import ChaCha

        super().__init__(ChaCha(key=int.from_bytes(os.urandom(32), "little"), rounds=20))

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """Independent secure generators."""
        return [SecureGenerator() for _ in range(n_children)]

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("A secure generator cannot be pickled or copied: make a new one.")


_alive: "WeakSet[SecureGenerator]" = WeakSet()


def _rekey_all() -> None:
    for generator in list(_alive):
        generator.rekey()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_rekey_all)


def secure() -> SecureGenerator:
    """A generator for reports of real people: ChaCha20, keyed by the operating system.

    It cannot be seeded, pickled or copied, and a forked process gets a key of its own.
    """
    return SecureGenerator()


WORDS = 2**64  # probabilities on the client are whole numbers of these
_DIGITS = Context(prec=60)


def exp(epsilon: float) -> Fraction:
    """e^ε to 60 digits, rounded down by less than 1e-58 of itself."""
    power = Decimal(epsilon).exp(_DIGITS)
    return Fraction(power) * (1 - Fraction(1, 10**58))


def floor_threshold(probability: Fraction) -> int:
    """Largest whole number of 2⁻⁶⁴ not above `probability`, kept off 0 and 1."""
    return min(max(floor(probability * WORDS), 1), WORDS - 1)


def ceil_threshold(probability: Fraction) -> int:
    """Smallest whole number of 2⁻⁶⁴ not below `probability`, kept off 0 and 1."""
    return min(max(ceil(probability * WORDS), 1), WORDS - 1)


_FEW = 16  # words that are fetched when one is asked for


class Words(Iterator[int]):
    """One word at a time by `next`, or many by `take`: the same words in the same order.

    Parameters
    ----------
    fetch
        Gives so many more words.

    Examples
    --------
    >>> words = Words.of([7, 8, 9])
    >>> next(words), words.take(2)
    (7, array([8, 9], dtype=uint64))
    """

    def __init__(self, fetch: Callable[[int], WordArray]) -> None:
        self._fetch = fetch
        self._few: Iterator[int] = iter(())

    @classmethod
    def of(cls, words: Iterable[int]) -> Self:
        """Given words: for test vectors, never for a person's value."""
        rest = iter(words)
        return cls(lambda count: np.fromiter(islice(rest, count), dtype=np.uint64))

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Self:
        """Words from a generator."""
        return cls(lambda count: np.frombuffer(rng.bytes(8 * count), dtype="<u8"))

    def __next__(self) -> int:
        for word in self._few:
            return word
        self._few = iter(self._fetch(_FEW).tolist())
        return next(self._few)

    def below(self, size: int) -> int:
        """A uniform number: of each word, the fewest bits that hold one."""
        mask = (1 << (size - 1).bit_length()) - 1
        while (number := next(self) & mask) >= size:
            pass
        return number

    def take(self, count: int) -> WordArray:
        """The next `count` words."""
        words = np.fromiter(islice(self._few, count), dtype=np.uint64)
        if len(words) < count:  # NumPy takes a step even for no bytes
            words = np.concatenate([words, self._fetch(count - len(words))])
        if len(words) < count:
            raise StopIteration
        return words
