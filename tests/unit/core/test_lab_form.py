"""The composed LIST: paths, race forms, and back from a path."""

from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.core.lab.form import (
    ListForm,
    added_to,
    form_from,
    form_of,
    form_of_read,
    path_of,
    values_of,
    variants_of,
)
from ktui.core.references import Selection
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.selectors.shards import shard


def resource(name: str) -> Resource:
    found = BUILTIN.by_name(name)
    assert found is not None
    return found


PODS, NODES, LEASES = resource("pods"), resource("nodes"), resource("leases")


@pytest.mark.parametrize(
    ("target", "form", "path"),
    [
        (PODS, ListForm(), "/api/v1/pods"),
        (PODS, ListForm(namespace="team-00"), "/api/v1/namespaces/team-00/pods"),
        (NODES, ListForm(namespace="ignored"), "/api/v1/nodes"),
        (LEASES, ListForm(limit="500"), "/apis/coordination.k8s.io/v1/leases?limit=500"),
        (
            PODS,
            ListForm(label_selector="app in (a,b),tier!=db", resource_version="0"),
            "/api/v1/pods?labelSelector=app%20in%20(a,b),tier!=db&resourceVersion=0",
        ),
        (PODS, ListForm(namespace="../x"), "/api/v1/namespaces/..%2Fx/pods"),
    ],
)
def test_the_path_of_a_form(target: Resource, form: ListForm, path: str) -> None:
    assert path_of(form, target) == path


@given(st.text(min_size=1), st.text(min_size=1))
def test_whatever_is_typed_arrives_as_typed(labels: str, fields: str) -> None:
    try:
        f"{labels}{fields}".encode()
    except UnicodeEncodeError:
        return
    path = path_of(ListForm(label_selector=labels, field_selector=fields, limit="1"), PODS)
    assert parse_qsl(urlsplit(path).query, keep_blank_values=True) == [
        ("labelSelector", labels),
        ("fieldSelector", fields),
        ("limit", "1"),
    ]


def test_a_race_asks_one_question_in_eight_ways() -> None:
    form = ListForm(label_selector="app=web", limit="100", resource_version="5", continue_token="abc")
    labels = {race.label: path_of(race.form, PODS) for race in variants_of(form, 77, "team-00")}
    base = "/api/v1/pods?labelSelector=app=web"
    assert labels == {
        "unset": base,
        "rv=0": f"{base}&resourceVersion=0",
        "pages of 100": f"{base}&limit=100",
        "NotOlderThan": f"{base}&resourceVersion=77&resourceVersionMatch=NotOlderThan",
        "Exact": f"{base}&resourceVersion=77&resourceVersionMatch=Exact",
        "WatchList": f"{base}&resourceVersionMatch=NotOlderThan&watch=1&sendInitialEvents=true"
        "&allowWatchBookmarks=true&timeoutSeconds=60",
        "in team-00": "/api/v1/namespaces/team-00/pods?labelSelector=app=web",
        "no selector": "/api/v1/pods",
    }
    assert [race.label for race in variants_of(form, 77) if race.all_pages] == ["pages of 100"]


def test_a_race_leaves_out_what_it_cannot_ask() -> None:
    labels = [race.label for race in variants_of(ListForm(namespace="a"), 0)]
    assert labels == ["unset", "rv=0", "pages of 500", "WatchList", "all namespaces", "metadata only"]


def test_without_a_selector_the_race_leaves_out_spec_and_status() -> None:
    assert variants_of(ListForm(), 1)[-1].form == replace(ListForm(), accept="metadata")
    assert variants_of(ListForm(accept="metadata"), 1)[-1].form.accept == "json"


@given(
    st.sampled_from(["", "team-00"]), st.sampled_from(["", "a=b,c in (d,e)"]), st.sampled_from(["", "0", "7"])
)
def test_a_path_that_was_rewritten_becomes_a_form_again(namespace: str, labels: str, rv: str) -> None:
    form = ListForm(
        namespace=namespace, label_selector=labels, resource_version=rv, limit="5", accept="table"
    )
    assert form_of(path_of(form, PODS), ListForm(accept="table")) == form


def test_a_watch_is_fired_up_to_the_bookmark_that_ends_its_initial_events() -> None:
    assert path_of(ListForm(stream=True), PODS) == (
        "/api/v1/pods?resourceVersionMatch=NotOlderThan&watch=1&sendInitialEvents=true"
        "&allowWatchBookmarks=true&timeoutSeconds=60"
    )


def test_what_a_plain_watch_is_fired_with_besides_is_known() -> None:
    target = "/api/v1/pods?watch=1&resourceVersion=0"
    added = ["resourceVersionMatch", "sendInitialEvents", "allowWatchBookmarks", "timeoutSeconds"]
    assert added_to(target, form_of(target, ListForm())) == added
    assert added_to("/api/v1/pods", form_of("/api/v1/pods", ListForm())) == []


def test_what_stands_in_the_fields_becomes_the_form() -> None:
    for stream in (True, False):
        form = ListForm(label_selector="a=b", stream=stream)
        assert values_of(form)["verb"] == ("WATCH" if stream else "LIST")
        assert form_from(values_of(form)) == form


def test_a_race_from_a_watch_has_one_watch_only() -> None:
    races = variants_of(ListForm(stream=True), 77)
    assert [race.label for race in races if race.form.stream] == ["WatchList"]


@pytest.mark.parametrize(
    ("target", "taken"),
    [
        ("/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", True),
        ("/api/v1/pods?watch=1&resourceVersion=0", True),
        ("/api/v1/pods?watch=true", True),
        ("/api/v1/pods?watch=1&resourceVersion=48102", False),
    ],
)
def test_a_watch_that_begins_with_all_objects_can_be_taken_into_the_lab(target: str, taken: bool) -> None:
    form = form_of_read(Selection("WATCH", target, "a test"), ListForm(), BUILTIN)
    assert (form is not None) == taken
    assert form is None or form.stream


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("1/2", str(shard(0, 2))),
        ("3/3", str(shard(2, 3))),
        ("4/3", "4/3"),
        ("0/3", "0/3"),
        (str(shard(1, 4)), str(shard(1, 4))),
        ("", None),
    ],
)
def test_a_shard_is_typed_as_a_part(typed: str, sent: str | None) -> None:
    path = path_of(ListForm(shard=typed), PODS)
    assert dict(parse_qsl(urlsplit(path).query)).get("shardSelector") == sent
    assert form_of(path, ListForm()).shard_selector == (sent or "")


def test_a_shard_is_compared_with_the_whole_collection() -> None:
    *same, whole = variants_of(ListForm(shard="1/2", label_selector="app=web"), 77)
    assert whole.label == "no shard" and "shardSelector" not in path_of(whole.form, PODS)
    assert all("shardSelector" in path_of(each.form, PODS) for each in same)
