"""What `ldp3 new` starts from: working files, and the tests beside them."""

import keyword
import re
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ldp3.errors import InvalidParameter
from ldp3.files import whole_file, write_lines
from ldp3.kinds import every_kind, known, snake

Kind = Literal["protocol", "method", "metric", "attack"]
TEMPLATES = Path(__file__).parent / "templates"  # files to copy: no part of this package

TEST = '''"""Tests of NAME. Run them with: pytest test_NAME.py"""

from NAME import CLASS

import ldp3


def test_the_contract_holds() -> None:
    verdict = ldp3.verify(CLASS)
    assert verdict.passed, verdict


def test_it_runs_beside_ours() -> None:
    results = ldp3.benchmark("zipf(d=16, n=2000)", WHERE, repeats=2)
    assert "NAME" in set(results.table["COLUMN"])
'''
WHERE: dict[Kind, str] = {
    "protocol": 'protocols=[CLASS, "oue"]',
    "method": 'protocols="oue", methods=[CLASS, "norm_sub"]',
    "metric": 'protocols="oue", methods="norm_sub", metrics=[CLASS, "l1"]',
    "attack": 'protocols="oue", attacks=[CLASS], fake_users="1%", targets="top:2"',
}


def new(kind: Kind, name: str, folder: Path) -> list[Path]:
    """Write NAME.py and test_NAME.py into `folder`; nothing is overwritten."""
    cls = "".join(part[:1].upper() + part[1:] for part in re.split("[-_ ]", name))
    own = snake(cls)
    if not cls.isidentifier() or keyword.iskeyword(own) or own.startswith("test_"):
        raise InvalidParameter(f"A name looks like 'my_{kind}', got {name!r}.")
    if known(every_kind()[f"{kind}s"], own):
        raise InvalidParameter(f"{own!r} is the name of a {kind} already: choose another one.")
    code = (TEMPLATES / f"{kind}.py").read_text(encoding="utf-8")
    code = code.replace(f"My{kind.title()}", cls).replace(f"my_{kind}", own)
    test = TEST.replace("WHERE", WHERE[kind]).replace("COLUMN", kind)
    test = test.replace("CLASS", cls).replace("NAME", own)
    files = {folder / f"{own}.py": code, folder / f"test_{own}.py": test}
    for path in files:
        if path.exists():
            raise InvalidParameter(f"{path.name} is there already: choose another name.")
    if find_spec(own):  # in this folder, `import numpy` would then be the new file
        raise InvalidParameter(f"{own!r} is a module that others import: choose another name.")
    with ExitStack() as both:  # or neither
        for path, text in files.items():
            write_lines(both.enter_context(whole_file(path)), text)
    return list(files)
