"""What a user imports: every name is there, and nothing slow comes with it."""

import subprocess
import sys

import pytest

import ldp3
from ldp3.kinds import every_kind, find

SLOW = (
    "numpy",
    "numba",
    "scipy",
    "polars",
    "cyclopts",
    "rich",
    "jinja2",
    "matplotlib",
    "vl_convert",
)


@pytest.mark.parametrize("name", ldp3.__all__)
def test_every_public_name_exists_and_is_listed(name: str) -> None:
    assert getattr(ldp3, name) is not None
    assert name in dir(ldp3)


def test_a_star_brings_every_public_name() -> None:
    scope: dict[str, object] = {}
    exec("from ldp3 import *", scope)
    assert set(ldp3.__all__) <= set(scope)


@pytest.mark.parametrize("kind", every_kind().values())
def test_a_package_exports_what_its_modules_hold(kind: type) -> None:
    package = sys.modules[kind.__module__.rpartition(".")[0]]
    for cls in (kind, *find(kind).values()):
        home = sys.modules[cls.__module__.rpartition(".")[0]]  # schemes are protocols, too
        assert home is getattr(ldp3, home.__name__.removeprefix("ldp3."))
        assert getattr(home, cls.__name__) is cls
        assert cls.__name__ in dir(home)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = package.Nothing


def test_a_package_imports_what_it_holds_when_it_is_asked_and_needs_few() -> None:
    code = (
        "import sys\nsys.modules.update(dict.fromkeys(['numba', 'scipy', 'polars']))\n"
        "import ldp3\npackages = [getattr(ldp3, name) for name in ldp3._PACKAGES]\n"
        "print('numpy' in sys.modules)\n"
        "[getattr(package, name) for package in packages[2:] for name in dir(package)]\n"
        "print(ldp3.protocols.OLH(1.0, 4).g, ldp3.postprocessing.NormSub.__name__)"
    )
    done = ran(code + "\nldp3.datasets.Zipf")
    assert done.stdout == "False\n4 NormSub\n"
    assert "ImportError: ldp3.datasets needs polars: pip install 'ldp3[full]'." in done.stderr


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = ldp3.nothing


def ran(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_importing_ldp3_imports_nothing_slow() -> None:
    code = f"import sys, ldp3; print([m for m in {SLOW} if m in sys.modules])"
    assert ran(code).stdout == "[]\n"


def test_the_list_of_commands_waits_for_nothing_slow() -> None:
    slow = [name for name in SLOW if name not in ("cyclopts", "rich")]
    slow += ["rich.markdown", "importlib.metadata", "concurrent.futures"]
    code = (
        "import sys\nfrom ldp3.cli.app import run_command\n"
        f"run_command(['--help']); print([m for m in {slow} if m in sys.modules])"
    )
    assert ran(code).stdout.splitlines()[-1] == "[]"


def test_without_the_extra_a_name_says_what_to_install() -> None:
    code = "import sys; sys.modules['polars'] = None\nimport ldp3; ldp3.benchmark"
    last = ran(code).stderr.splitlines()[-1]
    assert last == "ImportError: ldp3.benchmark needs polars: pip install 'ldp3[full]'."


def test_without_the_extra_the_command_is_one_line() -> None:
    code = (
        "import sys, importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name: None if name in ('cyclopts', 'numba') else found(name)\n"
        "from ldp3.cli import main; main()"
    )
    done = ran(code)
    assert done.returncode == 2
    assert done.stderr == "ldp3: the commands need cyclopts, numba: pip install 'ldp3[full]'.\n"


def test_many_reports_without_numba_are_refused_in_one_line() -> None:
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import ldp3, numpy\n"
        "try: ldp3.oracle('grr', 1.0, 4).perturb(numpy.array([1]), ldp3.stream(0))\n"
        "except ldp3.LDPError as error: print(error)"
    )
    assert "pip install 'ldp3[full]'" in ran(code).stdout
