"""The README's Python runs as it stands, and its commands stay inside the clone."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def test_the_python_of_the_readme_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, {})


def test_the_environment_of_the_commands_lies_in_the_clone_and_is_ignored() -> None:
    text = README.read_text(encoding="utf-8")
    block = re.search(r"<!-- quick start -->\n```bash\n(.*?)```\n<!-- end -->", text, re.DOTALL)
    assert block is not None
    commands = block[1].splitlines()
    assert len(commands) == 2  # what .ci/run takes from here
    assert all(line.startswith("python3 -m venv .venv && . .venv/bin/") for line in commands)
    assert ".venv/" in (ROOT / ".gitignore").read_text().splitlines()
    assert not re.search(r"venv ~", text + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


def test_the_readme_says_how_long_the_tests_take() -> None:
    assert re.search(r"tests, which takes \w+ to \w+ minutes", README.read_text(encoding="utf-8"))


def test_the_readme_counts_protocols_and_methods_right() -> None:
    from ldp3.kinds import every_kind, find

    text = README.read_text(encoding="utf-8")
    every, methods = find(every_kind()["protocols"]), len(find(every_kind()["methods"]))
    protocols = sum(not cls.needs_records for cls in every.values())
    assert f"| Local protocols for one value | {protocols}, two of them for numbers |" in text
    assert f"| Post-processing methods | {methods - 1}, and chains |" in text  # none is none
