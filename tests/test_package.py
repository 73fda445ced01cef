"""The package: what is in it, that it installs without a compiler, and that versions agree."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from ruamel.yaml import YAML

import ldp3

ROOT = Path(__file__).parents[1]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("package")]  # built once


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    _run("-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return folder


def _run(*arguments: str, python: Path = Path(sys.executable), **environment: str) -> str:
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [str(python), *arguments], capture_output=True, text=True, env={**clean, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


def test_the_index_would_take_both_files(built: Path) -> None:
    said = _run("-m", "twine", "check", "--strict", *map(str, built.iterdir()))
    assert said.count("PASSED") == 2


def test_the_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(_wheel(built)) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0] for name in names} == {
        "ldp3",
        f"ldp3-{ldp3.__version__}.dist-info",
    }
    ours = {p.relative_to(ROOT / "src").as_posix() for p in _sources(ROOT / "src" / "ldp3")}
    assert ours <= set(names)


def _sources(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts]


def test_the_source_package_can_be_tested(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = archive.getnames()
    inside = {name.partition("/")[2] for name in names}
    assert {"pyproject.toml", "README.md", "LICENSE", "tests/test_package.py"} <= inside
    assert not [name for name in inside if ".venv" in name or "__pycache__" in name]
    assert not [name for name in inside if name.startswith(("site/", "docs/reference/"))]
    assert "docs/leaderboard.html" not in inside  # as large as all the rest
    assert "docs/index.md" in inside


def test_a_client_installs_from_the_wheel_without_a_compiler(built: Path, tmp_path: Path) -> None:
    _run("-m", "venv", str(tmp_path / "bare"))
    python = tmp_path / "bare" / ("Scripts" if os.name == "nt" else "bin") / "python"
    _run("-m", "pip", "install", "-q", "--only-binary", ":all:", str(_wheel(built)), python=python)
    code = (
        "import ldp3; plan = ldp3.Plan('c', ['a', 'b', 'c'], 'oue', 1.0);"
        "assert len(ldp3.Client(plan).report('b')) == plan.report_bytes"
    )
    _run("-c", code, python=python, PATH="")


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = re.search(r"^version: (\S+)", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    recipe = re.search(r'version: "(\S+)"', (ROOT / "packaging" / "recipe.yaml").read_text())
    assert cited is not None
    assert recipe is not None
    assert project["version"] == ldp3.__version__ == cited[1] == recipe[1]


READ_BY_OTHERS = {
    ".github/workflows/ci.yml": "vendor.github-workflows",
    ".github/ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
    ".github/ISSUE_TEMPLATE/new.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/wrong.yml": "vendor.github-issue-forms",
    "CITATION.cff": "vendor.citation-file-format",
}


@pytest.mark.parametrize(("path", "schema"), READ_BY_OTHERS.items())
def test_github_can_read_what_is_meant_for_it(path: str, schema: str) -> None:
    _run("-m", "check_jsonschema", "--builtin-schema", schema, str(ROOT / path))


def test_the_workflow_gives_nobody_more_than_needed() -> None:
    zizmor = shutil.which("zizmor", path=Path(sys.executable).parent)
    if zizmor is None:
        pytest.skip("zizmor is not installed")
    strict = ["--offline", "--persona", "auditor", "--min-severity", "medium"]
    command = [zizmor, *strict, str(ROOT / ".github")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout


def test_actions_are_pinned_by_commit() -> None:
    used = re.findall(r"uses: (\S+)", (ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    assert used
    assert [one for one in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one)] == []


def test_the_recipe_requires_what_the_commands_require() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = [*project["dependencies"], *project["optional-dependencies"]["full"]]
    recipe = YAML(typ="safe").load(ROOT / "packaging" / "recipe.yaml")
    needs = recipe["requirements"]
    python, *theirs = (str(line) for line in (*needs["run"], *needs["run_constraints"]))
    assert python == f"python {project['requires-python']}"
    assert [line.replace(" ", "").replace("-base", "") for line in theirs] == [
        line.partition(";")[0] for line in ours
    ]
    assert recipe["context"]["version"] == project["version"]
    assert recipe["about"]["summary"] == project["description"]
