"""Generators for people's reports cannot be repeated."""

import copy
import os
import pickle

import numpy as np
import pytest

from ldp3 import secure
from ldp3.randomness.secure import SecureGenerator


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
