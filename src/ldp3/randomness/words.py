"""Uniform 64-bit words: what a client turns into a report."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Self

import numpy as np

from ldp3.arrays import WordArray

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

    def take(self, count: int) -> WordArray:
        """The next `count` words."""
        words = np.fromiter(islice(self._few, count), dtype=np.uint64)
        if len(words) < count:  # NumPy takes a step even for no bytes
            words = np.concatenate([words, self._fetch(count - len(words))])
        if len(words) < count:
            raise StopIteration
        return words
