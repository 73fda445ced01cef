"""The one source of random words for kernels: a 256-bit key, expanded with ChaCha20.

The key is drawn from the generator that the caller hands in, so simulated and real reports run the
same code. Words that run out are refilled and never thrown away, which would bias what is kept.
"""

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import WordArray
from ldp3.errors import require_generator
from ldp3.kernels.compile import compiled_in, njit

Key = NDArray[np.uint32]
WordSource = (
    WordArray  # position of the next word, number of the next block, four words of key, words
)
STEP = 4096  # users whose random words a kernel makes at once, by `fill`
_HEAD, _BLOCKS = 6, 64


def key_of(rng: np.random.Generator) -> Key:
    """A 256-bit key for a kernel, drawn from `rng`."""
    require_generator("perturb", rng)
    return np.frombuffer(rng.bytes(32), dtype="<u4").astype(np.uint32)


def words(rng: np.random.Generator, size: int) -> WordArray:
    """`size` uniform 64-bit words, expanded from a key that `rng` gives."""
    blocks = np.empty((16, -(-size // 8)), dtype=np.uint32)
    expand(key_of(rng), np.uint64(0), blocks)
    return blocks.reshape(-1).view(np.uint64)[:size]


@compiled_in("ldp3.kernels.llvm")
def expand(key: Key, counter: np.uint64, out: NDArray[np.uint32]) -> None:
    """Fill `out`, shape `(16, blocks)`, with the ChaCha20 blocks `counter`, `counter + 1`, …"""


@njit
def open_source(key: Key) -> WordSource:
    """The random words that `key` gives, to be drawn one after the other."""
    source = np.zeros(_HEAD + 8 * _BLOCKS, np.uint64)
    source[0] = np.uint64(source.size)
    words = key.view(np.uint64)
    for i in range(words.size):
        source[2 + i] = words[i]
    return source


@njit
def next_word(source: WordSource) -> np.uint64:
    """A uniform 64-bit word."""
    if source[0] == np.uint64(source.size):
        _refill(source)
    word = source[source[0]]
    source[0] += np.uint64(1)
    return word


@njit
def _refill(source: WordSource) -> None:
    # a function of its own, or `next_word` would be too long to stand inside other kernels
    blocks = source[_HEAD:].view(np.uint32).reshape(16, _BLOCKS)
    expand(source[2:_HEAD].view(np.uint32), source[1], blocks)  # as `fill` does
    source[1] += np.uint64(_BLOCKS)
    source[0] = np.uint64(_HEAD)


@njit
def uniform(word: np.uint64) -> float:
    """A uniform word as a uniform number in (0, 1)."""
    return (float(word >> np.uint64(11)) + 0.5) * 2.0**-53


@njit
def fill(source: WordSource, blocks: NDArray[np.uint32]) -> None:
    """Many words at once: blocks of shape `(16, several)` that `next_word` will not give."""
    expand(source[2:_HEAD].view(np.uint32), source[1], blocks)
    source[1] += np.uint64(blocks.shape[1])
