"""Where references lead, and what they imply."""

from __future__ import annotations

from ktui.contract.events import FanOut, Prefix, RequestFinished, RequestStarted, WatcherOpened
from ktui.core import reducer, references
from ktui.core.references import KeyRef, Object, Place, RequestRef, ResourceRef, WatcherRef
from ktui.core.state import State
from ktui.tui.navigation.related import (
    at_revision,
    implied,
    object_at,
    prefix_of,
    related_places,
    resource_below,
)


def request(number: int, verb: str = "LIST", name: str = "", query: str = "") -> RequestStarted:
    path = f"/api/v1/namespaces/shop/pods/{name}".rstrip("/")
    return RequestStarted(
        id=number,
        verb=verb,
        path=path,
        query=query,
        resource="pods",
        namespace="shop",
        name=name,
        client="kubectl",
        user_agent="kubectl",
    )


def state_of(*events: object) -> State:
    state = State()
    reducer.apply(state, [Prefix(prefix="/k8s/pods/", resource="pods", count=3), *events])  # type: ignore[list-item]
    return state


def places(*references: references.Reference, state: State) -> dict[str, Place]:
    return {item.letter: item.place for item in related_places(references, state)}


def test_a_list_leads_to_the_lab_the_versions_its_cache_and_its_prefix() -> None:
    found = places(RequestRef(7), state=state_of(request(7, query="limit=5")))
    assert {letter: place.mode for letter, place in found.items()} == {
        "r": "requests",
        "l": "lab",
        "v": "versions",
        "c": "cache",
        "p": "etcd",
    }
    lab = found["l"].reference
    assert isinstance(lab, references.Read)
    assert lab.selection.target == "/api/v1/namespaces/shop/pods?limit=5"


def test_a_get_leads_to_its_object_and_its_key_but_not_to_the_lab() -> None:
    found = places(RequestRef(7), state=state_of(request(7, "GET", "web")))
    assert found["o"] == Place("cache", Object("pods", "shop", "web"))
    assert found["e"] == Place("etcd", KeyRef("/k8s/pods/shop/web"))
    assert "l" not in found


def test_a_watch_leads_to_the_lab_where_it_begins_with_all_objects() -> None:
    for query, leads in (("watch=1&resourceVersion=0", True), ("watch=1&resourceVersion=41", False)):
        found = places(RequestRef(7), state=state_of(request(7, "WATCH", query=query)))
        assert ("l" in found) == leads


def test_an_open_watch_leads_to_its_watcher_and_back_to_its_request() -> None:
    opened = WatcherOpened(id=7, resource="pods", since="41", client="kubelet")
    state = state_of(request(7, "WATCH"), opened)
    assert places(RequestRef(7), state=state)["w"] == Place("watches", WatcherRef(7))
    assert places(WatcherRef(7), state=state)["r"] == Place("requests", RequestRef(7))


def test_a_request_that_is_not_kept_leads_nowhere() -> None:
    assert related_places([RequestRef(99)], state_of()) == []


def test_an_event_leads_to_its_key_at_that_revision() -> None:
    found = places(Object("pods", "shop", "web", 48), state=state_of())
    assert found["e"].reference == KeyRef("/k8s/pods/shop/web", 48)


def test_a_key_names_its_object_where_its_prefix_is_known_or_built_in() -> None:
    state = state_of()
    assert object_at("/k8s/pods/shop/web", state) == Object("pods", "shop", "web")
    assert object_at("/registry/services/specs/shop/api", state) == Object("services", "shop", "api")
    assert object_at("/registry/minions/n-1", state) == Object("nodes", "", "n-1")
    assert object_at("/other/thing", state) is None
    assert resource_below("/registry/pods/shop/", state) == "pods"
    assert prefix_of("leases.coordination.k8s.io", state) == "/registry/leases/"


def test_every_letter_is_given_once() -> None:
    state = state_of(request(7), request(8, "GET", "web"))
    found = related_places([RequestRef(7), RequestRef(8)], state)
    assert len({item.letter for item in found}) == len(found)
    assert not {item.letter for item in found} & set("jkq")


def test_what_is_implied_is_said_once_even_in_a_circle() -> None:
    opened = WatcherOpened(id=7, resource="pods", since="", client="kubelet")
    found = implied([RequestRef(7)], state_of(request(7, "WATCH"), opened))
    assert len(found) == len(set(found)) and WatcherRef(7) in found and ResourceRef("pods") in found


def test_a_revision_leads_to_events_answers_and_watches_at_it() -> None:
    state = state_of(
        request(7),
        RequestFinished(id=7, status=200, route="cache", ms=1.0, rv="48"),
        WatcherOpened(id=9, resource="pods", since="48", client="kubelet"),
        FanOut(resource="pods", change="MODIFIED", rv=48, namespace="shop", name="web"),
    )
    assert at_revision(48, state) == [Object("pods", "shop", "web", 48), WatcherRef(9), RequestRef(7)]
    assert at_revision(49, state) == []
