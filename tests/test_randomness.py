import copy
import os
import pickle
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from randomgen import ChaCha

from ldp3 import LDPError, secure, stream
from ldp3.randomness import (
    WORDS,
    SecureGenerator,
    ceil_threshold,
    exp,
    expand,
    floor_threshold,
    key_of,
    words,
)


def test_a_stream_depends_on_seed_and_key_alone() -> None:
    keys: list[tuple[Any, ...]] = [
        (0,),
        (1,),
        (0, "a"),
        (0, "b"),
        (0, "a", 1),
        (0, "a1"),
        (0, 1),
        (0, "1"),
        (0, "a", "1"),
    ]
    first = {key: stream(*key).integers(2**62) for key in keys}
    assert len(set(first.values())) == len(keys)
    assert {key: stream(*key).integers(2**62) for key in reversed(keys)} == first


def test_a_stream_is_the_same_on_every_machine() -> None:
    # golden: a change of NumPy's generator or of our hashing must be seen
    assert stream(0, "oue", 1).integers(10**6, size=4).tolist() == [9778, 734985, 6812, 643124]


@pytest.mark.parametrize("seed", [-1, 1.5, True, None, "0"])
def test_a_bad_seed_is_refused(seed: object) -> None:
    with pytest.raises(LDPError, match="seed must be an integer of at least 0, got"):
        stream(seed)  # type: ignore[arg-type]


def test_secure_generators_differ_and_have_their_own_type() -> None:
    assert isinstance(secure(), SecureGenerator)
    assert isinstance(secure(), np.random.Generator)
    assert secure().bytes(16) != secure().bytes(16)
    assert secure().spawn(2)[0].bytes(16) != secure().bytes(16)


@pytest.mark.parametrize("leak", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_secure_generator_cannot_be_duplicated(leak: object) -> None:
    with pytest.raises(TypeError, match="cannot be pickled or copied"):
        leak(secure())  # type: ignore[operator]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_a_forked_process_gets_a_key_of_its_own() -> None:
    rng = secure()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, rng.bytes(32))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 32) != rng.bytes(32)


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


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 0.001, 0.5, 1.0, 2.0, 10.0, 50.0, 700.0])
def test_the_exponential_is_exact_and_rounded_down(epsilon: float) -> None:
    with mpmath.workdps(90):
        truth = mpmath.exp(mpmath.mpf(epsilon))
        ours = exp(epsilon)
        shortfall = 1 - mpmath.mpf(ours.numerator) / ours.denominator / truth
    assert 0 < shortfall < 1e-57


def test_thresholds_round_as_they_say_and_nothing_is_certain() -> None:
    third = Fraction(1, 3)
    assert floor_threshold(third) == WORDS // 3
    assert ceil_threshold(third) == WORDS // 3 + 1
    assert floor_threshold(Fraction(1)) == WORDS - 1
    assert ceil_threshold(Fraction(0)) == 1
