"""The contract of methods bites: planted bugs are caught, honest methods pass."""

import pytest

from ldp3.kinds import defined
from ldp3.postprocessing.base import PostProcessor
from ldp3.verification import findings
from tests.verification.planted import methods

METHODS = {cls.__name__: cls for cls in defined(methods, PostProcessor)}
BROKEN = {
    "NotQuiteOne": "Frequencies are at least 0 and sum to 1, as promised",
    "InPlace": "The estimate is left untouched",
    "SameArray": "The result is a new array",
    "Random": "The same estimate gives the same result",
    "Restless": "A higher estimate never ends below a lower one, as promised",
    "Short": "The result is one finite number per value, as float64",
    "Silent": "It says in words what it needs of an oracle",
    "ClearsTheTally": "The estimate is left untouched",
    "SpoilsTheNoise": "The estimate is left untouched",
    "GlobalChance": "There is no chance in it",
    "FavoursTheFirst": "Equal estimates of equal noise end equal",
    "RemembersByTheSize": "The result depends on no other estimate",
    "ReusesItsResult": "A result stays what it is",
}
NOTES = {"HonestSmoothing": {"The order of the values matters: it is for ordered domains"}}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_passes_if_and_only_if_it_is_honest(name: str) -> None:
    made = list(findings(METHODS[name]()))
    failed = {f.check for f in made if not f.passed}
    assert not failed if name.startswith("Honest") else failed
    assert {BROKEN[name]} <= failed if name in BROKEN else name not in BROKEN
    assert NOTES.get(name, set()) <= {f.check for f in made if f.note}


def test_every_promise_that_is_to_be_named_is_broken_by_somebody() -> None:
    assert {*BROKEN, *NOTES} <= set(METHODS)
