"""The demo cluster is the same for the same seed, and of the size that was asked for."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.workloads.demo.plan import DemoSize, make_plan
from ktui.workloads.seeding import stages

pytestmark = pytest.mark.slow

NOW = 1_700_000_000.0
sizes = st.builds(
    DemoSize,
    pods=st.integers(1, 400),
    nodes=st.integers(1, 40),
    namespaces=st.integers(1, 30),
    seed=st.integers(0, 2**31),
)


def creates(size: DemoSize) -> list[tuple[str, str]]:
    return [(name, item.object_path) for name, _, items in stages(make_plan(size), NOW) for item in items]


@settings(max_examples=40, deadline=None)
@given(sizes)
def test_no_object_is_made_twice(size: DemoSize) -> None:
    twice = [path for (_, path), count in Counter(creates(size)).items() if count > 1]
    assert twice == []


@settings(max_examples=40, deadline=None)
@given(sizes)
def test_there_are_as_many_pods_and_nodes_as_asked_for(size: DemoSize) -> None:
    kinds = Counter(name for name, _ in creates(size))
    assert kinds["nodes"] == size.nodes
    daemons = 2 * size.nodes  # a node cannot be without its daemons
    assert kinds["pods"] == max(size.pods, daemons)


@settings(max_examples=40, deadline=None)
@given(sizes)
def test_the_size_of_a_stage_is_the_number_of_its_objects(size: DemoSize) -> None:
    for name, expected, items in stages(make_plan(size), NOW):
        assert (name, sum(1 for _ in items)) == (name, expected)


def test_the_same_seed_makes_the_same_cluster() -> None:
    assert creates(DemoSize(seed=7)) == creates(DemoSize(seed=7))
    assert creates(DemoSize(seed=7)) != creates(DemoSize(seed=8))


def test_the_default_is_what_the_readme_says() -> None:
    plan = make_plan(DemoSize())
    assert (len(plan.nodes), len(plan.namespaces)) == (60, 12)


def test_namespaces_come_before_what_lives_in_them() -> None:
    order = [name for name, _ in creates(DemoSize(pods=50, nodes=2))]
    assert order.index("namespaces") == 0
    assert order.index("custom resource definitions") < order.index("Cilium resources")
