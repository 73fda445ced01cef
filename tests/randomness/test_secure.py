"""Generators for people's reports cannot be repeated."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from ldp3 import secure
from ldp3.randomness import SecureGenerator


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


FORKS = """
import os, signal, threading, warnings
from ldp3 import secure

warnings.simplefilter("ignore")  # that a process with threads forks is the point
rngs = [secure() for _ in range(4)]

def draw(rng):
    while True:
        rng.bytes(1_000_000)  # without the interpreter's lock, but with its own

for rng in rngs:
    threading.Thread(target=draw, args=(rng,), daemon=True).start()
for _ in range(25):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that waits for a lock dies of it
        assert len({rng.bytes(16) for rng in rngs}) == 4
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, "a forked process waited for a lock that nobody holds"
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_no_lock_is_held_across_a_fork() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
