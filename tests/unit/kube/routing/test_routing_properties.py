"""What holds for every parameters, every cache and every version."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.listoptions import ListOptions
from ktui.kube.routing import decide_get, decide_list, decide_watch, sentences
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.parameters import MAX_REVISION, DecodedToken, TokenState
from ktui.kube.routing.plan import PROBED, Fallback, Plan, Source, Wait
from ktui.kube.routing.predicates import Predicate
from ktui.kube.routing.reasons import GET_REASONS, LIST_REASONS, REASONS, WATCH_REASONS
from ktui.kube.versions import KNOWN_VERSIONS, Behaviour, behaviour_of
from tests.questions import Question, asked

GATES = ("ConsistentListFromCache", "ListFromCacheSnapshot", "WatchList", "ResilientWatchCacheInitialization")

revisions = st.one_of(
    st.sampled_from(["", "0", "abc", "-1", "00", "99999999999999999999999", str(2**63), str(2**64 - 1)]),
    st.integers(1, 200).map(str),
)
matches = st.sampled_from(["", "NotOlderThan", "Exact", "Sometimes"])


@st.composite
def behaviours(draw: st.DrawFn) -> Behaviour:
    version = draw(st.sampled_from(KNOWN_VERSIONS))
    gates = {}
    for gate in GATES:
        wanted = draw(st.sampled_from([None, True, False]))
        if wanted is not None:
            try:
                behaviour_of(version, {gate: wanted})
            except ValueError:
                continue
            gates[gate] = wanted
    return behaviour_of(version, gates)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    return asked(
        draw(revisions),
        draw(matches),
        draw(st.sampled_from([-3, 0, 1, 500])),
        DecodedToken(draw(st.sampled_from(TokenState)), draw(st.sampled_from([-7, -1, 1, 40, 80, 100, 150]))),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
    )


@st.composite
def states(draw: st.DrawFn, live: bool | None = None) -> CacheState:
    unknown = draw(st.booleans()) if live is None else live
    return CacheState(
        draw(st.sampled_from(Readiness)),
        draw(st.sampled_from([0, 50, 100])),
        draw(st.booleans()),
        draw(st.sampled_from([None, 0, 60, 100])),
        draw(st.sampled_from([0, 60])),
        None if unknown else 120,
        None if unknown else 50,
        draw(st.floats(0, 1e9)),
    )


def check(plan: Plan) -> None:
    assert plan.reasons
    assert all(reason in REASONS for reason in plan.reasons)
    assert plan.steps
    assert plan.error is None or plan.error.code in (400, 410, 422, 429, 500, 504)
    if plan.source is Source.NONE:
        assert plan.error is not None
    assert all(line.rule and line.saw and line.phase for line in sentences.trace_lines(plan))
    assert sentences.reason(plan) and sentences.document(plan)["wait"]
    assert plan.revision <= MAX_REVISION or plan.source is not Source.ETCD
    if plan.source in (Source.ETCD, Source.NONE) and plan.revision != PROBED:
        assert plan.fallback is Fallback.NONE
    if plan.error is not None:
        assert plan.consistency is None and plan.list_revision is None and plan.limit_honoured is None


@given(questions(), states(), behaviours())
def test_every_list_is_decided(question: Question, state: CacheState, behaviour: Behaviour) -> None:
    plan = decide_list(*question, state, behaviour)
    check(plan)
    assert set(plan.reasons) <= set(LIST_REASONS)
    if plan.error is None:
        assert plan.consistency and plan.list_revision
        assert (plan.limit_honoured is None) == (question.options.limit <= 0)
    if plan.source is Source.SNAPSHOT:
        assert behaviour.enabled("ListFromCacheSnapshot")
    if plan.source is Source.SNAPSHOT and plan.error is None:
        assert (plan.minimum, plan.fallback) == (plan.revision, Fallback.ETCD_IF_GONE)
    if plan.revision == PROBED:
        assert plan.probe and plan.wait.fresh
    elif plan.error is None:
        assert (plan.revision > 0) == (plan.consistency == "exact_rv")
    if state.readiness is Readiness.DISABLED:
        assert plan.source in (Source.ETCD, Source.NONE)


@given(revisions, states(), behaviours())
def test_every_get_is_decided(rv: str, state: CacheState, behaviour: Behaviour) -> None:
    plan = decide_get(rv, state, behaviour)
    check(plan)
    assert set(plan.reasons) <= set(GET_REASONS)
    if rv == "":
        assert plan.source is Source.ETCD


@given(
    st.builds(
        ListOptions,
        resource_version=revisions,
        resource_version_match=matches,
        allow_watch_bookmarks=st.booleans(),
        send_initial_events=st.sampled_from([None, True, False]),
        continue_=st.sampled_from(["", "token"]),
        watch=st.booleans(),
    ),
    states(),
    behaviours(),
)
def test_every_watch_is_decided(options: ListOptions, state: CacheState, behaviour: Behaviour) -> None:
    plan = decide_watch(options, state, behaviour)
    check(plan)
    assert set(plan.reasons) <= set(WATCH_REASONS) | {"v.bad_rv"}


@given(questions(), states(live=True), behaviours())
def test_nothing_is_predicted_from_an_etcd_that_was_not_asked(
    question: Question, state: CacheState, behaviour: Behaviour
) -> None:
    plan = decide_list(*question, state, behaviour)
    assert not [reason for reason in plan.reasons if reason.startswith("e.")]
    rv = question.options.resource_version
    watch = ListOptions(watch=True, resource_version=rv, allow_watch_bookmarks=True)
    assert decide_watch(watch, state, behaviour).reasons[-1] not in ("w.toolarge", "w.etcd_compacted")
    assert "g.toolarge" not in decide_get(rv, state, behaviour).reasons


@given(states(live=True), behaviours())
def test_a_reader_ahead_of_the_cache_waits(state: CacheState, behaviour: Behaviour) -> None:
    ready = CacheState(Readiness.READY, 100, state.progress)
    plan = decide_list(*asked("101"), ready, behaviour)
    assert (plan.source, plan.wait, plan.reason_id) == (Source.CACHE, Wait(fresh=True), "c.atleast_wait")


@given(behaviours(), st.booleans(), st.booleans())
def test_any_version_is_never_read_from_etcd(behaviour: Behaviour, selectors: bool, progress: bool) -> None:
    probes = behaviour.minor <= 29 and behaviour.enabled("ConsistentListFromCache")
    state = CacheState(Readiness.READY, 100, progress)
    plan = decide_list(*asked("0", selectors=selectors), state, behaviour)
    assert plan.source is Source.CACHE
    assert plan.etcd_ops == (("revision_probe",) if probes else ())


@given(questions(), behaviours())
def test_an_unset_list_is_never_stale(question: Question, behaviour: Behaviour) -> None:
    options, scope, _ = question
    unset = asked("", limit=options.limit, selectors=scope.selective, recursive=not scope.single)
    plan = decide_list(*unset, CacheState(Readiness.READY, 100), behaviour)
    assert plan.consistency == "linearizable"
    assert plan.etcd_ops


def test_the_hint_to_retry_grows_with_the_downtime() -> None:
    def hint(version: str, seconds: float) -> int:
        state = CacheState(Readiness.REINITIALIZING, downtime_seconds=seconds)
        plan = decide_list(*asked(), state, behaviour_of(version))
        assert plan.error is not None
        return plan.error.retry_after

    assert [hint("1.36", s) for s in (0, 10, 20, 40, 56.5, 60, 1e9)] == [1, 1, 3, 11, 29, 30, 30]
    assert [hint("1.32", s) for s in (0, 60)] == [1, 1]


@pytest.mark.parametrize(("patch", "source"), [(0, Source.ETCD), (2, Source.ETCD), (3, Source.CACHE)])
def test_early_patches_of_1_33_lose_a_consistent_page(patch: int, source: Source) -> None:
    behaviour = behaviour_of(f"1.33.{patch}")
    state = CacheState(Readiness.READY, 100)
    assert decide_list(*asked(limit=500), state, behaviour).source is source
    assert decide_list(*asked(), state, behaviour).source is Source.CACHE


def test_a_422_names_every_cause() -> None:
    question = asked("", "Sometimes", token=DecodedToken(TokenState.VALID, 5))
    error = decide_list(*question, CacheState(), behaviour_of("1.36")).error
    assert error is not None
    assert error.message.startswith('ListOptions.meta.k8s.io "" is invalid: [')
    for cause in ("unless resourceVersion is provided", "when continue is provided", 'value: "Sometimes"'):
        assert cause in error.message


def test_the_trace_names_the_deciding_predicate() -> None:
    steps = decide_list(*asked(), CacheState(cache_rv=9), behaviour_of("1.30")).steps
    assert [(s.phase, s.predicate, s.seen) for s in steps if s.holds] == [
        ("shouldDelegateList", Predicate.RV_UNSET, ("",))
    ]
