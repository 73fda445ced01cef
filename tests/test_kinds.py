"""What has a name: what our folders define, what packages offer, what is handed in."""

from collections.abc import Callable
from pathlib import Path

import pytest

import ldp3
from ldp3 import FrequencyOracle, LDPError, Metric, PostProcessor
from ldp3.kinds import (
    called,
    every_kind,
    find,
    installed_names,
    known,
    look_up,
    name_of,
    plain,
    snake,
    spellings_of,
    title_of,
)
from ldp3.plugins import plugin
from tests.plugin_files import DATASET, PROTOCOL, written

Install = Callable[[str, str, str], None]


@pytest.mark.parametrize(
    ("name", "in_snake_case"),
    [("NormSub", "norm_sub"), ("GRR", "grr"), ("MLEApx", "mle_apx"), ("PowerNS", "power_ns")],
)
def test_a_name_is_the_class_name_in_snake_case(name: str, in_snake_case: str) -> None:
    assert snake(name) == in_snake_case
    assert name_of(type(name, (), {})) == in_snake_case


def test_every_kind_has_things_and_a_word_for_one_of_them() -> None:
    kinds = every_kind()
    assert [called(kind) for kind in kinds.values()] == [
        "protocol", "method", "metric", "attack", "dataset",
    ]  # fmt: skip
    for kind in kinds.values():
        found: dict[str, type] = find(kind)
        assert found
        assert all(name == name_of(cls) and issubclass(cls, kind) for name, cls in found.items())


@pytest.mark.parametrize("several", ["protocols", "methods", "metrics"])
def test_a_set_names_what_there_is(several: str) -> None:
    kind = every_kind()[several]
    named = [name for names in kind.sets.values() for name in names]  # type: ignore[attr-defined]
    assert named
    assert set(named) <= set(find(kind))


@pytest.mark.parametrize("several", ["protocols", "methods", "metrics", "datasets"])
def test_no_two_things_of_a_kind_share_a_spelling(several: str) -> None:
    found: dict[str, type] = find(every_kind()[several])
    own = [{plain(s) for s in spellings_of(cls)} for cls in found.values()]
    assert sum(map(len, own)) == len(set().union(*own))


@pytest.mark.parametrize(
    "spelling", ["ss", "SS", "Subset", "subset selection", "sub-set_selection"]
)
def test_spelling_does_not_matter(spelling: str) -> None:
    assert look_up(FrequencyOracle, spelling).__name__ == "SS"
    assert known(FrequencyOracle, spelling)


def test_an_unknown_name_gets_a_hint_or_the_list() -> None:
    with pytest.raises(LDPError, match=r"No protocol is called 'oul'\. Did you mean 'oue' or"):
        look_up(FrequencyOracle, "oul")
    with pytest.raises(LDPError, match=r"No metric is called 'zzz'\. Known: emd, hellinger, js"):
        look_up(Metric, "zzz")
    assert not known(PostProcessor, "oue")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("OUE", "mine.py:7: 'oue' is the name of another protocol, OUE in unary.py"),
        ("SUE", "mine.py:7: 'sue' is the name of another protocol, RAPPOR"),  # an alias of ours
    ],
)
def test_a_name_that_is_taken_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    module = plugin(Path(written(tmp_path, PROTOCOL.replace("class Mine", f"class {name}"))))
    with pytest.raises(LDPError, match=rf"{reason}.*: rename {name}\."):
        find(FrequencyOracle, module)


def test_two_plug_ins_of_one_name_are_refused(tmp_path: Path) -> None:
    files = written(tmp_path, PROTOCOL), written(tmp_path, PROTOCOL, "other.py")
    with pytest.raises(LDPError, match=r"other\.py:7: 'mine' is .*, Mine in mine\.py:7"):
        find(FrequencyOracle, *(plugin(Path(file)) for file in files))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """An installed package with one entry point."""

    def install(group: str, name: str, target: str) -> None:
        info = tmp_path / "strange-1.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
        monkeypatch.syspath_prepend(tmp_path)

    return install


def test_an_installed_package_joins_when_it_is_named(tmp_path: Path, package: Install) -> None:
    written(tmp_path, PROTOCOL, "strange_protocols.py")
    package("ldp3.protocols", "mine", "strange_protocols:Mine")
    assert type(ldp3.oracle("Mine", epsilon=1.0, d=4)).__name__ == "Mine"
    assert "mine" not in find(FrequencyOracle)
    assert installed_names(FrequencyOracle) == {"mine": "strange"}
    with pytest.raises(LDPError, match=r"No protocol is called 'min'\. Did you mean 'mine'"):
        ldp3.oracle("min", epsilon=1.0, d=4)


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        ("mine", "strange_absent:Mine", "cannot be loaded from 'strange_absent:Mine': ModuleNotF"),
        ("other", "strange_bad:Mine", "the entry point 'other' must name a metric class of that"),
        ("mine", "strange_bad:Mine", "the entry point 'mine' must name a metric class"),
    ],
)
def test_a_broken_package_is_named(
    tmp_path: Path, package: Install, name: str, target: str, reason: str
) -> None:
    written(tmp_path, PROTOCOL, "strange_bad.py")
    package("ldp3.metrics", name, target)
    with pytest.raises(LDPError, match="strange: ") as caught:
        look_up(Metric, name)
    assert reason in str(caught.value)


def test_an_installed_dataset_is_found(tmp_path: Path, package: Install) -> None:
    written(tmp_path, DATASET, "strange_dice.py")
    package("ldp3.datasets", "dice", "strange_dice:Dice")
    assert ldp3.load("dice(n=120)").n == 120


def test_a_title_is_read_and_typed_and_not_inherited() -> None:
    class Titled:
        title = "Ti-tled"

    class Heir(Titled):
        pass

    assert (title_of(Titled), title_of(Heir)) == ("Ti-tled", "Heir")
    assert title_of(look_up(Metric, "ℓ1")) == "ℓ1"


def test_what_is_broken_in_another_package_is_passed_over(tmp_path: Path, package: Install) -> None:
    written(tmp_path, PROTOCOL, "strange_protocols.py")
    package("ldp3.protocols", "mine", "strange_protocols:Mine")
    broken = tmp_path / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (broken / "entry_points.txt").write_bytes(b"[ldp3.protocols\n\xff\xfe=\n[[x]]\na")
    assert installed_names(FrequencyOracle) == {"mine": "strange"}
