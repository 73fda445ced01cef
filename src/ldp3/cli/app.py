"""All commands in one program, and what happens to mistakes.

Results go to stdout; progress, notes and mistakes to stderr. A person's mistake is one line and
exit code 2; a bug of ours is a traceback. What is slow to import is imported by the commands.
"""

import os
import shlex
import sys
from collections.abc import Callable
from typing import Any

from cyclopts import App, CycloptsError, Group, Parameter, UnusedCliTokensError

from ldp3 import __version__
from ldp3.cli.aggregate import aggregate
from ldp3.cli.attack import attack
from ldp3.cli.convert import convert
from ldp3.cli.estimate import estimate
from ldp3.cli.listing import list_
from ldp3.cli.merge import merge
from ldp3.cli.new import new
from ldp3.cli.options import COMPARE, DEPLOY, EXTEND, shown_default
from ldp3.cli.perturb import perturb
from ldp3.cli.plan import plan
from ldp3.cli.recommend import recommend
from ldp3.cli.report import report
from ldp3.cli.run import run
from ldp3.cli.speaking import as_flags
from ldp3.cli.verify import verify
from ldp3.errors import LDPError
from ldp3.plugins import blame
from ldp3.progress import say

app = App(
    name="ldp3",
    help="Local differential privacy: compare every protocol and post-processing on your data.",
    version=__version__,
    default_parameter=Parameter(negative=(), show_default=shown_default),
    suppress_keyboard_interrupt=False,  # or Ctrl-C would end without a word
)
GROUPS: dict[Group, list[Callable[..., Any]]] = {
    COMPARE: [run, recommend, report],
    DEPLOY: [plan, perturb, aggregate, merge, estimate],
    EXTEND: [new, verify, convert],
}
for group, commands in GROUPS.items():
    for command in commands:
        app.command(command, group=group)
app.command(list_, name="list", group=COMPARE)
app.command(attack)


def run_command(arguments: list[str]) -> int:
    """The exit code of a command."""
    try:
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except UnusedCliTokensError as error:
        return _mistake(f"Unexpected {shlex.join(error.unused_tokens or [])!r}. See ldp3 --help.")
    except (LDPError, CycloptsError) as error:
        return _mistake(as_flags(str(error)))
    except KeyboardInterrupt:
        say("ldp3: stopped.")
        return 130
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        said = blame(error)
        if said is None:
            raise
        return _mistake(f"{said}. Mend the plug-in.")
    return code or 0


def _mistake(text: str) -> int:
    say(f"ldp3: {' '.join(text.split())}")
    return 2
