"""Names as people read them."""

from pathlib import Path

import pytest

from ldp3.kinds import every_kind, find, plain
from ldp3.plugins import load_plugins
from ldp3.results.names import fake_users, measure, reading, unit, written
from ldp3.specs import canonical

READ = {
    ("protocols", "grr"): "GRR",
    ("protocols", "pi_rappor"): "PI-RAPPOR",
    ("protocols", "olh(g=4)"): "OLH(g=4)",
    ("protocols", "nobodys(a=1)"): "nobodys(a=1)",  # of a plug-in that is not here
    ("methods", "norm_sub"): "Norm-Sub",
    ("methods", "power+norm_sub"): "Power+Norm-Sub",
    ("methods", "none"): "none",
    ("metrics", "l1"): "ℓ1",
    ("metrics", "linf"): "ℓ∞",
    ("attacks", "mga"): "MGA",
}


@pytest.mark.parametrize(("kind", "name"), READ)
def test_a_name_is_read_as_in_the_literature(kind: str, name: str) -> None:
    assert written(every_kind()[kind], name) == READ[kind, name]


def test_a_plug_in_is_read_by_its_title(tmp_path: Path) -> None:
    for title in ("Half-Way", "Half the Way"):  # edited: the newest counts
        source = f"""from ldp3 import Metric
class HalfWay(Metric):
    title = {title!r}
    def compare(self, truth, frequencies):
        return 0.5
"""
        (tmp_path / "half.py").write_text(source)
        load_plugins([tmp_path / "half.py"])
        assert written(every_kind()["metrics"], "half_way") == title
    (tmp_path / "taken.py").write_text(source.replace("HalfWay", "L1"))
    load_plugins([tmp_path / "taken.py"])  # which no run takes: the name is ours
    assert written(every_kind()["metrics"], "l1") == "ℓ1"
    assert written(every_kind()["metrics"], "half_way") == title


@pytest.mark.parametrize("kind", ["protocols", "methods", "metrics", "attacks"])
def test_no_two_are_read_alike_and_none_as_code(kind: str) -> None:
    found: dict[str, type] = find(every_kind()[kind])
    read = [written(every_kind()[kind], name) for name in found]
    assert len(set(map(plain, read))) == len(found)
    assert not [one for one in read if "_" in one]


@pytest.mark.parametrize("kind", ["protocols", "methods", "metrics", "attacks"])
def test_what_is_read_can_be_typed(kind: str) -> None:
    of = every_kind()[kind]
    assert {name: canonical(of, written(of, name)) for name in find(of)} == {n: n for n in find(of)}


def test_a_number_of_fake_users_is_a_share_or_people() -> None:
    assert fake_users(0.05) == "5% fake users"
    assert (fake_users(1), fake_users(300)) == ("1 fake user", "300 fake users")


def test_a_metric_is_read_with_its_unit(tmp_path: Path) -> None:
    assert (unit("kl(n=5)"), unit("emd")) == ("nats", "unit of the values")
    assert (measure("kl"), measure("ndcg(k=3)")) == ("KL (nats)", "NDCG(k=3)")
    assert reading("l1", "lower") == "share of people, lower is better"
    assert reading("kendall", "higher") == "higher is better"
    source = """from ldp3 import Metric
class Cost(Metric):
    unit = "euros"
    def compare(self, truth, frequencies):
        return 0.5
"""
    (tmp_path / "cost.py").write_text(source)
    assert measure("no_such_metric") == "no_such_metric"
    load_plugins([tmp_path / "cost.py"])
    assert measure("cost") == "Cost (euros)"


def test_units_stand_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    units = {row[0].split("`")[1]: row[2].strip() for row in rows if "`" in row[0]}
    assert units == {name: cls.unit for name, cls in find(every_kind()["metrics"]).items()}
