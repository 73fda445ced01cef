"""One source of words for all kernels: ChaCha20, keyed from the generator, nothing thrown away."""

import numpy as np
from randomgen import ChaCha

from ldp3 import stream
from ldp3.arrays import WordArray
from ldp3.kernels.compile import njit
from ldp3.kernels.source import WordSource, expand, fill, key_of, next_word, open_source, words


def test_the_kernel_expands_keys_as_chacha20_does() -> None:
    key = np.arange(8, dtype=np.uint32) * np.uint32(0x01234567)
    blocks = np.empty((16, 5), dtype=np.uint32)
    expand(key, np.uint64(0), blocks)
    reference = np.random.Generator(
        ChaCha(key=int.from_bytes(key.tobytes(), "little"), rounds=20)
    ).bytes(64 * 5)
    assert blocks.T.tobytes() == reference  # another implementation
    expand(np.zeros(8, dtype=np.uint32), np.uint64(1), blocks)
    assert blocks[:2, 0].astype("<u4").tobytes().hex() == "9f07e7be5551387a"  # a published vector


def test_the_block_counter_has_64_bits() -> None:
    blocks, beyond = np.empty((2, 16, 1), dtype=np.uint32)
    expand(np.zeros(8, dtype=np.uint32), np.uint64(1), blocks)
    expand(np.zeros(8, dtype=np.uint32), np.uint64(1 + 2**32), beyond)
    assert (blocks != beyond).any()


def test_keys_and_words_come_from_the_generator() -> None:
    assert (key_of(stream(1)) == key_of(stream(1))).all()
    assert (key_of(stream(1)) != key_of(stream(2))).any()
    rng = stream(1)
    assert (words(rng, 100) != words(rng, 100)).any()
    assert words(stream(1), 13).shape == (13,)


@njit
def take(source: WordSource, out: WordArray) -> None:
    for i in range(out.size):
        out[i] = next_word(source)


def test_words_come_one_by_one_in_the_order_of_the_blocks() -> None:
    key, some = key_of(stream(3)), np.empty(1_200, dtype=np.uint64)
    take(open_source(key), some)
    blocks = np.empty((3, 16, 64), dtype=np.uint32)  # 64 at a time
    for i in range(3):
        expand(key, np.uint64(64 * i), blocks[i])
    assert (some == blocks.reshape(-1).view(np.uint64)[:1_200]).all()


def test_blocks_taken_at_once_are_given_to_nobody_else() -> None:
    source, few, more = (
        open_source(key_of(stream(3))),
        np.empty(5, np.uint64),
        np.empty(600, np.uint64),
    )
    blocks = np.empty((16, 64), dtype=np.uint32)
    take(source, few)
    fill(source, blocks)
    take(source, more)
    every = np.concatenate([few, blocks.reshape(-1).view(np.uint64), more])
    assert len(np.unique(every)) == len(every)
