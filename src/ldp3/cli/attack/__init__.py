"""`ldp3 attack`: what fake users achieve, what they cost, what reports give away."""

from cyclopts import App, Parameter

from ldp3.cli.attack.cost import cost
from ldp3.cli.attack.infer import infer
from ldp3.cli.attack.poison import poison
from ldp3.cli.flags import ATTACK, shown_default

attack = App(
    name="attack",
    group=ATTACK,
    help="Attack a collection: fake users, guesses of values.",
    help_format="markdown",
    default_parameter=Parameter(negative=(), show_default=shown_default),
)
for command in (poison, cost, infer):
    attack.command(command)
