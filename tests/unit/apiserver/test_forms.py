"""Objects rendered as they are, as metadata only, as Tables."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ktui.apiserver.forms import table_form
from ktui.apiserver.forms.choose import DroppedEvents, object_form
from ktui.apiserver.forms.metadata_form import Partial, in_type_order, partial
from ktui.apiserver.forms.plain import Converted, Plain
from ktui.apiserver.forms.table_form import Table
from ktui.apiserver.negotiation import Form
from ktui.cacher.bookmarks import bookmark
from ktui.cacher.watch_events import OutEvent, error
from ktui.etcd.types import KV
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError
from ktui.storage.objects import Reader, StoredObject


def resource(name: str, group: str = "", version: str = "v1") -> Resource:
    found = BUILTIN.find(group, version, name)
    assert found is not None
    return found


def stored() -> StoredObject:
    """A config map that was written as JSON, with a value that protobuf would not hold."""
    value = b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"k":9007199254740993}}'
    reader = Reader(resource("configmaps"), "/registry/configmaps/")
    return reader.object(KV(b"/registry/configmaps/c", value, 7, 7, 1, 0))


class Codec:
    def encode_object(self, obj: dict[str, Any], resource: Resource) -> bytes:
        raise NotImplementedError

    def item_pieces(self, raw: bytes, rv: int | None, api_version: str | None = None) -> tuple[bytes, ...]:
        return (f'{{"item":"{api_version}"}}'.encode(),)

    def object_json(self, raw: bytes, rv: int | None, api_version: str | None = None) -> bytes:
        return f'{{"object":"{api_version}"}}'.encode()


def table(include: str = "Metadata") -> Table:
    config_maps = resource("configmaps")
    return Table(Plain(config_maps), config_maps, "meta.k8s.io/v1", include)


@pytest.mark.parametrize(
    ("name", "version", "kind"),
    [("horizontalpodautoscalers", "v1", Converted), ("horizontalpodautoscalers", "v2", Plain)],
)
def test_only_other_versions_are_converted(name: str, version: str, kind: type) -> None:
    found = resource(name, "autoscaling", version)
    form = object_form(Form(), found, Codec(), include="", of_list=True)
    assert type(form) is kind


def test_metadata_is_cut_out_without_being_decoded() -> None:
    document = b'{"kind":"X","spec":{"big":1e999},"metadata":{"name":"a","labels":{"x":"\\u003c"}}}'
    cut = partial(document, "meta.k8s.io/v1", resource("pods"))
    assert cut.endswith(b'"metadata":{"name":"a","labels":{"x":"\\u003c"}}}')


def test_metadata_of_custom_resources_is_written_as_its_type_has_it() -> None:
    """As an apiextensions-apiserver 1.36 does: in the type's order, without what is empty or unknown."""
    document = (
        b'{"apiVersion":"x.io/v1","kind":"W","metadata":{"annotations":{"k":"\\u003c"},"bogus":1,'
        b'"creationTimestamp":"2026-11-20T15:19:35Z","finalizers":[],"generation":1,"labels":{},'
        b'"managedFields":[{"apiVersion":"x.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}},'
        b'"manager":"m","operation":"Update","time":"2026-11-20T15:19:35Z"}],"name":"w","namespace":"d",'
        b'"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}],'
        b'"resourceVersion":"9","uid":"i"}}'
    )
    widgets = replace(resource("configmaps"), custom=True)
    assert partial(document, "meta.k8s.io/v1", widgets) == (
        b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"w","namespace":"d",'
        b'"uid":"i","resourceVersion":"9","generation":1,"creationTimestamp":"2026-11-20T15:19:35Z",'
        b'"annotations":{"k":"\\u003c"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}],'
        b'"managedFields":[{"manager":"m","operation":"Update","apiVersion":"x.io/v1",'
        b'"time":"2026-11-20T15:19:35Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]}}'
    )


@pytest.mark.parametrize("metadata", [b"{}", b'{"managedFields":7}', b'{"ownerReferences":[1]}', b"null"])
def test_metadata_that_does_not_fit_its_type_stays(metadata: bytes) -> None:
    assert in_type_order(metadata) == metadata


def test_daemon_sets_lack_their_internal_annotation() -> None:
    name = "deprecated.daemonset.template.generation"
    document = json.dumps({"metadata": {"annotations": {name: "1"}}}).encode()
    assert json.loads(partial(document, "v", resource("daemonsets", "apps")))["metadata"] == {}
    assert json.loads(partial(document, "v", resource("pods")))["metadata"] == {"annotations": {name: "1"}}


@pytest.mark.parametrize(("include", "shown"), [("None", None), ("Metadata", "PartialObjectMetadata")])
def test_a_row_holds_what_was_asked_for(include: str, shown: str | None) -> None:
    row = json.loads(b"".join(table(include).item(stored())))
    assert row["cells"][0] == "c"
    assert (row["object"] or {}).get("kind") == shown


def test_a_row_with_the_object_keeps_its_numbers() -> None:
    row = json.loads(b"".join(table("Object").item(stored())))
    assert row["object"]["data"]["k"] == 9007199254740993


def test_a_whole_table_is_one_row() -> None:
    whole = json.loads(table().whole(stored()))
    assert whole["metadata"] == {"resourceVersion": "7"}
    assert len(whole["rows"]) == 1 and len(whole["columnDefinitions"]) == 3


class Clock:
    """Stands for the module `time`."""

    now = 1_790_000_000.25  # 2026-09-21T14:13:20Z and a quarter of a second

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(table_form, "time", clock)
    return clock


def test_watchers_of_one_form_share_its_encoding(clock: Clock) -> None:
    event = OutEvent("ADDED", 7, stored())
    form = table()
    first = form.event(event, first=True)
    later = form.event(event, first=False)
    clock.now += 0.5
    assert form.event(event, first=True) is first
    assert json.loads(later)["object"]["columnDefinitions"] is None
    assert json.loads(first)["object"]["metadata"] == {"resourceVersion": "7"}


@pytest.mark.parametrize("dropped", [False, True])
def test_a_later_watcher_sees_the_age_of_its_time(clock: Clock, dropped: bool) -> None:
    value = (
        b'{"kind":"ConfigMap","apiVersion":"v1",'
        b'"metadata":{"name":"c","creationTimestamp":"2026-09-21T14:13:20Z"}}'
    )
    reader = Reader(resource("configmaps"), "/registry/configmaps/")
    event = OutEvent("ADDED", 7, reader.object(KV(b"/registry/configmaps/c", value, 7, 7, 1, 0)))
    form = DroppedEvents(table(), "key", lambda obj: obj) if dropped else table()
    ages = []
    for passed in (0.0, 0.5, 1.0, 70.0):
        clock.now = 1_790_000_000.25 + passed
        row = json.loads(form.event(event, first=False))["object"]["rows"][0]
        ages.append(row["cells"][2])
    assert ages == ["0s", "0s", "1s", "70s"] and event.encoded == 3


@pytest.mark.parametrize("include", ["None", "Metadata"])
def test_only_the_bookmark_that_ends_initial_events_has_an_object_in_any_case(include: str) -> None:
    for ends in (False, True):
        mark = bookmark(9, resource("configmaps"), ends_initial_events=ends)
        row = json.loads(table(include).event(mark, first=False))["object"]["rows"][0]
        assert (row["object"] or {}).get("kind") == (
            "PartialObjectMetadata" if ends or include != "None" else None
        )


def test_bookmarks_and_errors_have_their_forms() -> None:
    mark = json.loads(
        table().event(bookmark(9, resource("configmaps"), ends_initial_events=True), first=False)
    )
    row = mark["object"]["rows"][0]["object"]
    assert mark["object"]["metadata"] == {"resourceVersion": "9"}
    assert row["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    failed = json.loads(table().event(error({"kind": "Status", "code": 410}), first=True))
    assert failed == {"type": "ERROR", "object": {"kind": "Status", "code": 410}}


@pytest.mark.parametrize(
    ("target", "of_list", "custom", "code", "message"),
    [
        (
            "PartialObjectMetadata",
            True,
            False,
            406,
            "you requested PartialObjectMetadata, but the requested object is a list (*core.PodList)",
        ),
        (
            "PartialObjectMetadata",
            True,
            True,
            406,
            "you requested PartialObjectMetadata, but the requested object is a list "
            "(*unstructured.UnstructuredList)",
        ),
        (
            "PartialObjectMetadataList",
            False,
            False,
            406,
            "you requested PartialObjectMetadataList, but the requested object is not a list (*core.Pod)",
        ),
        ("PartialObjectMetadataList", False, True, 500, "content is not a list"),
    ],
)
def test_forms_that_do_not_fit(target: str, of_list: bool, custom: bool, code: int, message: str) -> None:
    pods = replace(resource("pods"), custom=custom)
    with pytest.raises(StatusError) as caught:
        object_form(Form(target=target), pods, Codec(), include="", of_list=of_list)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_an_unknown_include_object() -> None:
    with pytest.raises(StatusError) as caught:
        object_form(Form(target="Table"), resource("pods"), Codec(), include="Bogus", of_list=True)
    assert caught.value.code == 400


def test_the_metadata_of_nothing_is_null() -> None:
    form = Partial(Plain(resource("pods")), "meta.k8s.io/v1", resource("pods"))
    assert form.empty_list({"resourceVersion": "7"}) == (
        b'{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},'
        b'"items":null}\n'
    )
