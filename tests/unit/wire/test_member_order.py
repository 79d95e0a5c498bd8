"""Where the resourceVersion of values stored as JSON stands: upstream's bytes, not just its members."""

from __future__ import annotations

from ktui.wire.codec import object_json

CUSTOM = b'{"apiVersion":"x.io/v1","kind":"W","metadata":{"name":"w","namespace":"d","uid":"i"},"spec":{}}\n'
SERVICE = (
    b'{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":{"name":"v1.apps","uid":"i",'
    b'"creationTimestamp":"2026-11-20T15:19:35Z"},"spec":{}}\n'
)


def test_members_of_custom_resources_are_sorted() -> None:
    assert object_json(CUSTOM, 9) == (
        b'{"apiVersion":"x.io/v1","kind":"W","metadata":{"name":"w","namespace":"d","resourceVersion":"9",'
        b'"uid":"i"},"spec":{}}'
    )


def test_members_of_built_in_kinds_stand_in_their_types_order() -> None:
    assert object_json(SERVICE, 9) == (
        b'{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":{"name":"v1.apps","uid":"i",'
        b'"resourceVersion":"9","creationTimestamp":"2026-11-20T15:19:35Z"},"spec":{}}'
    )
