"""All commands in one program, and what happens to mistakes.

Results go to stdout; progress, notes and mistakes to stderr. A person's mistake is one line and
exit code 2; a bug of ours is a traceback and exit code 70. What is slow to import is imported by
the commands.
"""

import re
import shlex
import sys
import traceback
from collections.abc import Callable
from os.path import exists
from platform import python_version
from typing import Annotated, Any, Literal

from cyclopts import (
    App,
    Argument,
    CycloptsError,
    Group,
    MissingArgumentError,
    Parameter,
    UnusedCliTokensError,
)

from ldp3 import __version__
from ldp3.cli.aggregate import aggregate
from ldp3.cli.attack import attack
from ldp3.cli.config import configure
from ldp3.cli.console import as_flags
from ldp3.cli.convert import convert
from ldp3.cli.difference import difference
from ldp3.cli.estimate import estimate
from ldp3.cli.flags import COMPARE, DEPLOY, EXTEND, shown_default
from ldp3.cli.inspect import inspect
from ldp3.cli.list import list_
from ldp3.cli.merge import merge
from ldp3.cli.new import new
from ldp3.cli.perturb import perturb
from ldp3.cli.plan import plan
from ldp3.cli.recommend import recommend
from ldp3.cli.report import report
from ldp3.cli.run import run
from ldp3.cli.serve import serve
from ldp3.cli.size import size
from ldp3.cli.statement import statement
from ldp3.cli.verify import verify
from ldp3.errors import InDoubt, LDPError
from ldp3.plugins import blame
from ldp3.printing import show
from ldp3.progress import forget, say
from ldp3.reading.opening import STDIN

Shell = Literal["bash", "zsh", "fish", "powershell"]
BUG = 70  # exit code after a traceback: 1, Python's own, means that a fault was found
LONGEST_MISTAKE = 1_000  # characters of what is said of a mistake


def versions() -> str:
    """Ours, and those of what the numbers depend on."""
    from importlib.metadata import version

    others = [f"{name} {version(name)}" for name in ("numpy", "numba", "scipy", "polars")]
    return "\n".join([f"ldp3 {__version__}", f"Python {python_version()}", *others])


app = App(
    name="ldp3",
    help="Local differential privacy: compare every protocol and post-processing on your data.",
    version=versions,
    version_format="plaintext",
    help_format="plaintext",  # what shows Markdown is slow to import; commands show theirs by it
    default_parameter=Parameter(negative=(), show_default=shown_default),
    suppress_keyboard_interrupt=False,  # or Ctrl-C would end without a word
)
GROUPS: dict[Group, list[Callable[..., Any]]] = {
    COMPARE: [run, recommend, report],
    DEPLOY: [
        *(size, plan, statement, perturb, serve),
        *(aggregate, merge, estimate, difference, inspect),
    ],
    EXTEND: [new, verify, convert],
}
TAKES = {"list": "KIND", "verify": "NAME"}  # where the parser's own line says ARGS
for group, commands in GROUPS.items():
    for command in commands:
        app.command(command, group=group, help_format="markdown")
app.command(list_, name="list", group=COMPARE, help_format="markdown")
app["run"].config = configure
for name, takes in TAKES.items():
    app[name].usage = f"Usage: ldp3 {name} [OPTIONS] [{takes}...]"
app.command(attack)
app.register_install_completion_command(
    help="Let your shell complete ldp3's commands, options and names."
)


def show_completion(shell: Annotated[Shell, Parameter(name="SHELL")], /) -> None:
    """Print what `--install-completion` installs, for those who keep such files themselves.

    Parameters
    ----------
    shell
        The shell that is to read it.
    """
    show(app.generate_completion(shell=shell), end="")


app.command(show_completion, name="--show-completion", group=app["--install-completion"].group)


def run_command(arguments: list[str]) -> int:
    """The exit code of a command."""
    for word in arguments:
        if not _is_text(word):
            return _mistake(f"{word!r} is not UTF-8: rename the file.")
    try:
        code = app(
            _with_stdin(arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
        sys.stdout.flush()  # while there is somebody to tell that it cannot be
    except UnusedCliTokensError as error:
        return _mistake(_unexpected(arguments, error.unused_tokens or []))
    except MissingArgumentError as error:
        return _mistake(_needed(arguments, error))
    except InDoubt as doubt:
        return _mistake(f"{doubt.what} Say {_commands(arguments, doubt)}")
    except (LDPError, CycloptsError) as error:
        share = " A share is a number: 0.5 for 50%." if '%" into float' in str(error) else ""
        return _mistake(as_flags(str(error)) + share)
    except KeyboardInterrupt:
        say("ldp3: stopped.")
        return 130
    except BrokenPipeError:  # whoever read our output has seen enough
        forget(sys.stdout)
        return 0
    except SystemExit:  # so the printer of help ends when nobody reads on
        return 0
    except Exception as error:
        if _interrupted(error):
            say("ldp3: stopped.")
            return 130
        if said := blame(error):
            return _mistake(f"{said}. Mend the plug-in.")
        if isinstance(error, OSError):  # a full disk, a long name: the machine's word, not a bug
            return _mistake(f"{error.filename or 'standard output'}: {error.strerror or error}.")
        if isinstance(error, MemoryError):
            return _mistake("There is not enough memory for this: ask for less.")
        traceback.print_exc()
        return BUG
    return code or 0


def _interrupted(error: BaseException | None) -> bool:
    """Whether it is what somebody's code made of Ctrl-C."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _with_stdin(arguments: list[str]) -> list[str]:
    """A lone hyphen, which the parser takes for a flag, as a name of standard input."""
    before = ["", *arguments]
    takes = ("--na", "--delimiter")  # where a hyphen is a hyphen
    return [
        STDIN[1] if one == "-" and last not in takes else one
        for last, one in zip(before, arguments, strict=False)
    ]


def _commands(arguments: list[str], doubt: InDoubt) -> str:
    """The command again, with each of the options that there are to choose from."""
    flags = [as_flags(f"`{option}`") for option in doubt.options]
    return " or ".join(f"{shlex.join(['ldp3', *arguments])} {flag}" for flag in flags)


def _unexpected(arguments: list[str], words: list[str]) -> str:
    named = [word for word in words if exists(word)]  # noqa: PTH110 (a name may be too long)
    if named and arguments[0] in ("run", "recommend", "size", "attack"):
        return f"Unexpected {words[0]!r}: data are given as -d {shlex.join(named)}."
    return f"Unexpected {shlex.join(words)!r}. See ldp3 --help."


def _needed(arguments: list[str], error: MissingArgumentError) -> str:
    """All options that a command lacks, where the parser names the first."""
    command = app[arguments[0]]
    lacks = [
        argument.name
        for argument in (command.assemble_argument_collection() if command.default_command else ())
        if argument.required and argument.name.startswith("--") and not _given(argument, arguments)
    ]
    domains = ("--domain", "--domain-size", "--bins", "--grid")
    if arguments[0] == "plan" and not any(w.startswith(domains) for w in arguments):
        lacks.append(f"one of {', '.join(domains)}")
    if not lacks:
        return as_flags(str(error))
    return f"ldp3 {arguments[0]} needs {', '.join(lacks)}. See ldp3 {arguments[0]} --help."


def _given(argument: Argument, words: list[str]) -> bool:
    short = tuple(name for name in argument.names if not name.startswith("--"))
    return any(w.startswith(short) or w.partition("=")[0] in argument.names for w in words)


def _mistake(text: str) -> int:
    try:
        sys.stdout.flush()
    except OSError:
        forget(sys.stdout)
    words = " ".join(text.split())
    say(f"ldp3: {words}" if len(words) <= LONGEST_MISTAKE else f"ldp3: {words[:LONGEST_MISTAKE]}…")
    return 2


def _is_text(word: str) -> bool:
    """Whether it can be written to a file of ours; a file's name need not be text."""
    return not re.search("[\ud800-\udfff]", word)
