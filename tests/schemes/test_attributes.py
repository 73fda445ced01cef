"""Schemes for several attributes: their parameters, their tables, their errors."""

import numpy as np
import pytest

import ldp3
from ldp3 import Bins, Labels, LDPError, Records, stream
from ldp3.errors import InvalidData
from ldp3.postprocessing.interactions import joint
from ldp3.protocols.base import build_oracle
from ldp3.randomness import exp
from ldp3.schemes.attributes import SMP, Groups, Joint, Pairs, RecordScheme
from ldp3.schemes.spl import SPL
from ldp3.tables import Key, margin
from ldp3.verification.base import ALPHA
from ldp3.verification.statistics import mean_p

SIZES = (2, 3, 4)
PEOPLE = stream(0, "people").multinomial(3_000, stream(1).dirichlet(np.full(24, 0.3)))
TRUTH = PEOPLE.reshape(SIZES) / PEOPLE.sum()
SCHEMES = (Groups, Pairs, SMP, SPL, Joint)
each_scheme = pytest.mark.parametrize("cls", SCHEMES)


@each_scheme
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_tables_are_unbiased_and_as_noisy_as_they_say(
    cls: type[RecordScheme], epsilon: float
) -> None:
    scheme, runs = cls(epsilon, 24, SIZES), 60 if cls is SPL else 100
    found: dict[Key, list[tuple[np.ndarray, np.ndarray]]] = {}
    for run in range(runs):
        tables = scheme.tables(scheme.simulate(PEOPLE, stream(run, cls.__name__)))
        for key in tables:
            found.setdefault(key, []).append((tables[key].frequencies, tables[key].variance))
    assert len(found) == (3 if cls is SMP else 6)
    for key, made in found.items():
        own = (key,) if isinstance(key, int) else key
        truth = margin(TRUTH, (0, 1, 2), own).ravel()  # type: ignore[arg-type]
        off = np.array([f for f, _ in made]) - truth
        stated = np.array([v for _, v in made])
        cells = len(truth)
        assert mean_p(off, np.zeros(cells)).min() * cells > ALPHA
        # over so many runs a mean square has a relative deviation of √(2/runs), kurtosis aside
        assert abs((off**2).sum() / stated.sum() - 1) < 5 * (2 / runs) ** 0.5


@each_scheme
def test_a_simulated_tally_has_the_law_of_users(cls: type[RecordScheme]) -> None:
    scheme, values = cls(1.0, 24, SIZES), np.repeat(np.arange(24), PEOPLE)
    simulated, made = [], []
    for run in range(40):
        simulated.append(scheme.tables(scheme.simulate(PEOPLE, stream(run, "s"))).flat)
        tally = scheme.aggregate(scheme.perturb(values, stream(run, "u")))
        made.append(scheme.tables(tally).flat)
    p = mean_p(np.array(made) - np.array(simulated), np.zeros(len(made[0])))
    assert p.min() * len(p) > ALPHA


@each_scheme
def test_a_report_reveals_at_most_epsilon(cls: type[RecordScheme]) -> None:
    ratio = cls(1.0, 24, SIZES).privacy_ratio
    assert ratio is not None
    assert 1 < ratio <= exp(1.0)  # the exact one


@each_scheme
def test_batches_add_up(cls: type[RecordScheme]) -> None:
    scheme, rng = cls(1.0, 24, SIZES), stream(0)
    reports = scheme.perturb(np.arange(24).repeat(20), rng)
    halves = scheme.aggregate(reports[:200]) + scheme.aggregate(reports[200:])
    np.testing.assert_array_equal(halves.total, scheme.aggregate(reports).total)
    assert scheme.empty.n == 0
    assert not scheme.empty.total.any()


def test_records_of_many_combinations_need_no_list_of_them() -> None:
    sizes, rng = (10,) * 18, stream(0)
    scheme = build_oracle("groups", epsilon=1.0, d=10**18, sizes=sizes)
    assert isinstance(scheme, Groups)
    records = rng.integers(0, 10, (500, 18))
    tables = scheme.tables(scheme.simulate_records(records, np.full(500, 200), rng))
    assert len(tables) == 18 + 18 * 17 // 2
    assert scheme.aggregate(scheme.perturb(np.array([10**18 - 1]), rng)).n == 1


def test_whole_records_are_estimated_only_where_a_group_saw_them() -> None:
    joint, pairs = Joint(1.0, 24, SIZES), Pairs(1.0, 24, SIZES)
    assert joint.estimate(joint.simulate(PEOPLE, stream(0))).d == 24
    with pytest.raises(InvalidData, match="saw 0 × 1 × 2 together"):
        pairs.estimate(pairs.simulate(PEOPLE, stream(0)))
    with pytest.raises(InvalidData, match="at least one report"):
        joint.estimate(joint.empty)


def test_chosen_groups_are_kept() -> None:
    first = Groups(1.0, 24, SIZES)
    again = Groups(1.0, 24, SIZES).with_groups(first.groups[:0] or first.groups)
    assert again.groups == first.groups
    assert again == first


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sizes": (2, 3)}, "sizes must be numbers ≥ 2 whose product is d=24"),
        ({"sizes": (1, 24)}, "sizes must be"),
        ({"targets": (9,)}, "targets are"),
        ({"targets": ((0, 0),)}, "targets are"),
        ({"targets": ((0, 7),)}, "targets are"),
        ({"targets": ()}, "there must be a table"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_by_name(change: dict[str, object], said: str) -> None:
    with pytest.raises(LDPError, match=f"^Groups: {said}"):
        Groups(**{"epsilon": 1.0, "d": 24, "sizes": SIZES, **change})  # type: ignore[arg-type]


def test_a_joint_table_may_be_too_large() -> None:
    with pytest.raises(LDPError, match="use groups"):
        _ = Joint(1.0, 10**8, (10**4, 10**4)).groups


def test_targets_can_be_chosen() -> None:
    scheme = Groups(1.0, 24, SIZES, targets=((2, 0), 1))
    assert scheme.wanted == ((0,), (1,), (2,), (2, 0))
    assert list(scheme.tables(scheme.simulate(PEOPLE, stream(0)))) == [0, 1, 2, (2, 0)]
    three = build_oracle("groups(targets=3)", epsilon=1.0, d=24, sizes=SIZES)
    assert isinstance(three, Groups)
    assert three.wanted == ((0, 1, 2),)


def test_interactions_make_distributions_that_are_nearer() -> None:
    scheme, method = Groups(1.0, 24, SIZES), ldp3.postprocess("interactions")
    raw, refined = 0.0, 0.0
    for run in range(8):
        tables = scheme.tables(scheme.simulate(PEOPLE, stream(run, "m")))
        for key, f in method(tables).items():
            own = (key,) if isinstance(key, int) else key
            truth = margin(TRUTH, (0, 1, 2), own).ravel()  # type: ignore[arg-type]
            assert f.min() >= 0
            assert abs(f.sum() - 1) < 1e-12
            raw += float(((tables[key].frequencies - truth) ** 2).sum())
            refined += float(((f - truth) ** 2).sum())
    assert refined < 0.8 * raw


def test_other_methods_take_each_table_alone() -> None:
    scheme = Groups(1.0, 24, SIZES)
    tables = scheme.tables(scheme.simulate(PEOPLE, stream(0)))
    for spec in ("norm_sub", "power+norm_sub", "interactions+norm_sub"):
        found = ldp3.postprocess(spec)(tables)
        assert list(found) == list(tables)
    alone = ldp3.postprocess("norm_sub")(tables[0, 1])
    np.testing.assert_array_equal(ldp3.postprocess("norm_sub")(tables)[0, 1], alone)


def test_a_scheme_is_made_for_a_table_by_name() -> None:
    domain = Records([Labels(["f", "m"], name="sex"), Bins([0, 18, 65, 120], name="age")])
    scheme = ldp3.scheme("groups", 1.0, domain, targets=[1, ("age", "sex")])
    assert (scheme.sizes, scheme.wanted) == ((2, 3), ((0,), (1,), (1, 0)))
    assert ldp3.scheme("smp", 1.0, domain) == SMP(1.0, 6, (2, 3))
    with pytest.raises(LDPError, match="Did you mean 'age'"):
        ldp3.scheme("groups", 1.0, domain, targets=[("sex", "agee")])
    with pytest.raises(LDPError, match="GRR is for one attribute"):
        ldp3.scheme("grr", 1.0, domain)
    with pytest.raises(LDPError, match="for a Table"):
        ldp3.scheme("groups", 1.0, 7)  # type: ignore[arg-type]


def test_one_distribution_fits_the_tables_and_tells_of_three_attributes() -> None:
    scheme = Groups(1.0, 24, SIZES)
    tables = scheme.tables(scheme.simulate(20 * PEOPLE, stream(0)))
    p, wanted = joint(tables), ldp3.postprocess("interactions")(tables)
    assert p.shape == SIZES
    assert p.min() >= 0
    assert abs(p.sum() - 1) < 1e-12
    for own in ((0, 1), (0, 2), (1, 2)):
        apart = margin(p, (0, 1, 2), own).ravel() - wanted[own]
        assert float((apart**2).mean()) < 0.1 * float(tables[own].variance.mean())


def test_of_independent_attributes_the_distribution_is_their_product() -> None:
    rows = [np.array([0.7, 0.3]), np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.3, 0.2, 0.1])]
    even = np.einsum("i,j,k->ijk", *rows)
    scheme = Groups(4.0, 24, SIZES)
    tables = scheme.tables(scheme.simulate((even * 10**6).round().astype(int).ravel(), stream(0)))
    assert np.abs(joint(tables) - even).sum() < 0.02


def test_one_distribution_of_too_many_records_is_refused() -> None:
    scheme = SMP(1.0, 2**21, (2**7, 2**7, 2**7))
    records = np.zeros((1, 3), dtype=np.int64)
    tables = scheme.tables(scheme.simulate_records(records, np.array([1000]), stream(0)))
    with pytest.raises(InvalidData, match="at most 1,048,576 records"):
        joint(tables)


@pytest.mark.parametrize(("name", "most"), [("smp", 1), ("pairs", 2)])
def test_a_table_of_more_than_people_are_asked_together_is_refused_at_once(
    name: str, most: int
) -> None:
    build_oracle(f"{name}(targets={most})", epsilon=1.0, d=24, sizes=SIZES)
    with pytest.raises(LDPError, match=f"a table of {most + 1} attributes .* use groups"):
        build_oracle(f"{name}(targets={most + 1})", epsilon=1.0, d=24, sizes=SIZES)
