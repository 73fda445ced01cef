"""The contract of attacks bites: planted bugs are caught, honest attacks pass."""

import pytest

from ldp3.attacks.base import Attack
from ldp3.kinds import defined
from ldp3.verification import findings
from ldp3.verification.verify import ATTACKED, PEOPLE
from tests.verification.planted import attacks

ATTACKS = {cls.__name__: cls for cls in defined(attacks, Attack)}
SERVER = "A server takes every fake report, and as many as there are fake users"
BROKEN = {
    "ForgetsWhatTargetsHave": "The formula follows from the rates",
    "PromisesTwice": "The measured gain is the formula",
    "GainsWithoutFakes": "No fake users, no gain",
    "PromisesWithoutFakes": "No fake users, no gain",
    "StatesOtherRates": "Values are supported at the stated rates",
    "TalliesWithoutNoise": "`tally` has the law of `reports`",
    "TalliesAnotherTarget": "`tally` has the law of `reports`",
    "SendsTooFew": SERVER,
    "SendsWhatIsNoReport": SERVER,
    "MiscountsItsFakes": SERVER,
    "GlobalChance": "No global generator is used",
    "Remembers": "Randomness comes from the generator alone",
    "HoldsOthersData": "What honest people hold is left untouched",
    "TakesAnyTargets": "Targets that cannot be are refused",
    "CannotBeDone": "It can be carried out against some protocol",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_passes_if_and_only_if_it_is_honest(name: str) -> None:
    made = findings(ATTACKS[name](ATTACKED[0], PEOPLE.copy()), draws=10_000)
    failed = {f.check for f in made if not f.passed}
    assert not failed if name.startswith("Honest") else BROKEN[name] in failed


def test_every_promise_is_broken_by_somebody() -> None:
    assert set(BROKEN) == {name for name in ATTACKS if not name.startswith("Honest")}
