"""shardSelector: the cases of upstream's own table (pkg/sharding/parser_test.go), its words, and the hash."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.access_pattern import AccessPattern
from ktui.kube.advice import advise
from ktui.kube.explain import explain
from ktui.kube.routing.cache_state import assumed_state
from ktui.kube.routing.request import parse_request
from ktui.kube.selectors.shards import FULL, NAMESPACE, UID, ShardRange, ShardSelector, fnv1a, shard
from ktui.kube.status import StatusError
from ktui.kube.versions import behaviour_of

HALF = 1 << 63
FIRST = f"shardRange({UID}, '0x0000000000000000', '0x8000000000000000')"
SECOND = f"shardRange({UID}, '0x8000000000000000', '0x10000000000000000')"
GATE = {"ShardedListAndWatch": True}


@pytest.mark.parametrize(
    ("text", "value"),
    [("", 0xCBF29CE484222325), ("a", 0xAF63DC4C8601EC8C), ("foobar", 0x85944171F73967E8)],
)
def test_the_hash_is_fnv_1a(text: str, value: int) -> None:
    """The vectors of the authors of FNV."""
    assert fnv1a(text) == value


@pytest.mark.parametrize(
    ("text", "field", "ranges"),
    [
        (FIRST, UID, [(0, HALF)]),
        (SECOND, UID, [(HALF, FULL)]),
        (f"{FIRST} || {SECOND}", UID, [(0, HALF), (HALF, FULL)]),
        (f"({FIRST} || {SECOND})", UID, [(0, HALF), (HALF, FULL)]),
        (
            f"shardRange({NAMESPACE}, '0x00000000000000aa', '0x00000000000000ff')",
            NAMESPACE,
            [(0xAA, 0xFF)],
        ),
        (f"  shardRange( {UID} ,  '0x0000000000000000' ,  '0x8000000000000000' )  ", UID, [(0, HALF)]),
        (f'shardRange({UID},"0x0000000000000000","0x8000000000000000")', UID, [(0, HALF)]),
    ],
)
def test_what_is_one(text: str, field: str, ranges: list[tuple[int, int]]) -> None:
    selector = ShardSelector.parse(text)
    assert selector.field == field
    assert [(each.start, each.end) for each in selector.ranges] == ranges
    assert ShardSelector.parse(str(selector)) == selector


def test_the_text_of_shard_info_is_upstreams() -> None:
    assert str(ShardSelector.parse(f"{FIRST}||{SECOND}")) == f"{FIRST} || {SECOND}"


def ranged(start: str, end: str = "'0x8000000000000000'", field: str = UID) -> str:
    return f"shardRange({field}, {start}, {end})"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"),
        (ranged("'0000000000000000'"), "hexStart must have '0x' prefix, got \"0000000000000000\""),
        (ranged("'0x'"), "hexStart: hex value is required after '0x'"),
        (
            ranged("'0x000000000000000000'"),
            'hexStart: hex value too long (18 chars, max 17): "000000000000000000"',
        ),
        (ranged("'0x0g'"), 'hexStart: invalid hex character "g" in "0x0g"'),
        (ranged("'0xAA'"), 'hexStart: invalid hex character "A" in "0xAA"'),
        (
            ranged("'0x0'"),
            'hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" '
            '(did you mean "0x0000000000000000"?)',
        ),
        (
            ranged("'0x0000000000000000'", "'0x20000000000000000'"),
            "hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got \"0x20000000000000000\"",
        ),
        (
            ranged("'0x8000000000000000'"),
            "shard range start 0x8000000000000000 must be less than end 0x8000000000000000",
        ),
        (
            ranged("'0x0000000000000000'", field="object.metadata.name"),
            'unsupported field path "object.metadata.name"; '
            "supported: object.metadata.uid, object.metadata.namespace",
        ),
        (ranged("0", "8"), "hexStart must be a string literal, got int64"),
        (ranged("hex(0)"), "hexStart must be a string literal (e.g. '0xff'), got expression kind 1"),
        (
            ranged("'0x0000000000000000'", field="f(1)"),
            "shardRange() first argument: expected field path (e.g. object.metadata.uid), "
            "got expression kind 1",
        ),
        (f"shardRange({UID}, '0x0')", "shardRange() requires exactly 3 arguments, got 2"),
        ("other(1)", 'unsupported function "other"; only shardRange() and || are allowed'),
        (f"{FIRST} && {SECOND}", 'unsupported function "_&&_"; only shardRange() and || are allowed'),
        ("object.metadata.uid > '0x0'", 'unsupported function "_>_"; only shardRange() and || are allowed'),
        (
            "object.metadata.uid",
            "unexpected expression kind 7; expected shardRange() call or || operator",
        ),
        ("'a'", "unexpected expression kind 5; expected shardRange() call or || operator"),
        (
            f"{FIRST} || {ranged(chr(39) + '0x0000000000000000' + chr(39), field=NAMESPACE)}",
            f'all shard ranges must use the same field, got "{UID}" and "{NAMESPACE}"',
        ),
        (f"{FIRST} ||", "CEL parse error: Syntax error: mismatched input '<EOF>'"),
        ("(" * 5000, "CEL parse error: expression recursion limit exceeded: 100"),
    ],
)  # fmt: skip
def test_what_is_none(text: str, why: str) -> None:
    with pytest.raises(StatusError) as error:
        ShardSelector.parse(text)
    assert error.value.message == f"invalid shard selector: {why}"
    assert (error.value.code, error.value.reason) == (500, "")


@given(st.text())
def test_any_text_is_a_selector_or_refused(text: str) -> None:
    try:
        assert ShardSelector.parse(text).ranges
    except StatusError as error:
        assert error.message.startswith("invalid shard selector: ")


@given(st.integers(1, 50), st.text(min_size=1, max_size=40))
def test_equal_shards_split_everything(count: int, uid: str) -> None:
    shards = [shard(index, count) for index in range(count)]
    assert sum(each.matches(uid, "") for each in shards) == 1
    found = [(each.start, each.end) for one in shards for each in one.ranges]
    assert found[0][0] == 0 and found[-1][1] == FULL
    assert all(before[1] == after[0] for before, after in pairwise(found))


def test_overlap() -> None:
    assert ShardSelector(UID, (ShardRange(0, HALF), ShardRange(HALF // 2, FULL))).overlaps
    assert ShardSelector(UID, (ShardRange(0, FULL), ShardRange(1, 2), ShardRange(3, 4))).overlaps
    assert not ShardSelector.parse(f"{FIRST} || {SECOND}").overlaps
    assert not any(shard(index, count).overlaps for count in range(1, 40) for index in range(count))


def test_namespaces_keep_together() -> None:
    one = shard(0, 2, NAMESPACE)
    assert {one.matches(uid, "shop") for uid in "abcdefgh"} == {fnv1a("shop") < HALF}


@pytest.mark.parametrize(
    ("version", "gates", "warning"),
    [
        ("1.35", {}, "ignored without a message, the whole collection is sent: 1.35 does not know it"),
        ("1.36", {}, "the gate ShardedListAndWatch is off"),
        ("1.36", GATE, "a shard saves bytes and the client's memory, not the scan"),
    ],
)  # fmt: skip
def test_explain_says_what_it_does(version: str, gates: dict[str, bool], warning: str) -> None:
    request = parse_request(f"/api/v1/pods?limit=500&shardSelector={FIRST.replace(' ', '%20')}")
    found = explain(request, assumed_state(request), behaviour_of(version, gates))
    assert any(warning in text for text in found.warnings)
    assert found.plan.error is None
    assert request.scope(found.behaviour).selective is bool(gates)


def test_explain_refuses_as_the_server_does() -> None:
    request = parse_request("/api/v1/pods?shardSelector=abc")
    off = explain(request, assumed_state(request), behaviour_of("1.36"))
    assert off.plan.error is None
    on = explain(request, assumed_state(request), behaviour_of("1.37", GATE))
    assert on.plan.reason_id == "v.bad_shards" and on.plan.error is not None
    assert on.plan.error.message == (
        "invalid shard selector: unexpected expression kind 3; expected shardRange() call or || operator"
    )


def test_a_page_of_a_shard_is_not_streamed() -> None:
    request = parse_request(f"/api/v1/events?limit=500&shardSelector={FIRST.replace(' ', '%20')}")
    on = explain(request, assumed_state(request, range_stream=True), behaviour_of("1.37", GATE))
    assert on.plan.etcd_ops == ("range_page",)


@pytest.mark.parametrize(
    ("version", "gates", "advised"),
    [("1.35", {}, None), ("1.36", {}, "(alpha) is off"), ("1.37", GATE, "tests every object")],
)
def test_agents_that_keep_a_part_are_advised_a_shard(
    version: str, gates: dict[str, bool], advised: str | None
) -> None:
    request = parse_request("/api/v1/pods?resourceVersion=0")
    pattern = AccessPattern(client="kube-state-metrics", agents=4, keeps_part=True)
    found = advise(request, assumed_state(request), behaviour_of(version, gates), pattern)
    hints = [each for each in found if each.id == "a.shard"]
    if advised is None:
        assert not hints
        return
    (hint,) = hints
    assert advised in hint.why and "each of 4 kube-state-metrics keeps a part" in hint.why
    assert hint.tryable is bool(gates)
    if gates:
        again = parse_request(hint.path)
        assert again.options.shard_selector == str(shard(0, 4))
    alone = AccessPattern(client="kube-state-metrics", keeps_part=True)
    assert "a.shard" not in {
        each.id for each in advise(request, assumed_state(request), behaviour_of(version, gates), alone)
    }
