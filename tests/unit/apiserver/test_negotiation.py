"""Accept headers, judged as kube-apiserver 1.36 judges them."""

from __future__ import annotations

import pytest

from ktui.apiserver.http.accept import parse_accept
from ktui.apiserver.negotiation import Form, error_media_type, negotiate
from ktui.kube.status import StatusError

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
ROUTER_406 = "406: Not Acceptable\n\nAvailable representations: "
FORM_406 = "only the following media types are accepted: "


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Form()),
        ("*/*", Form()),
        ("application/json", Form()),
        ("application/json;q=0", Form()),
        ("application/json;charset=utf-8", Form()),
        ("application/json;stream=watch", Form()),
        ("application/yaml", Form("application/yaml")),
        ("application/vnd.kubernetes.protobuf,application/json", Form()),
        (TABLE, Form(target="Table")),
        (f"{TABLE},application/json", Form(target="Table")),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", Form(target="Table", meta_version="v1beta1")),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", Form()),
        (
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            Form(target="PartialObjectMetadataList"),
        ),
        ("application/json;q=0.1,application/yaml", Form("application/yaml")),
    ],
)
def test_the_best_clause_wins(accept: str, form: Form) -> None:
    assert negotiate(accept, custom=False) == form


@pytest.mark.parametrize(
    ("accept", "custom", "message"),
    [
        ("text/html", False, ROUTER_406),
        ("application/*", False, ROUTER_406),
        ("application/cbor", False, ROUTER_406),
        ("garbage", False, ROUTER_406),
        ("application/json;as=Table;v=v9;g=meta.k8s.io", False, FORM_406),
        ("application/json;as=Other;v=v1;g=meta.k8s.io", False, FORM_406),
        ("application/vnd.kubernetes.protobuf", True, FORM_406),
        ("text/html", True, FORM_406),
    ],
)
def test_nothing_acceptable_is_406(accept: str, custom: bool, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        negotiate(accept, custom=custom)
    assert caught.value.code == 406
    assert caught.value.message.startswith(message)


PROTOBUF = "application/vnd.kubernetes.protobuf"
METADATA = f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


@pytest.mark.parametrize(
    ("accept", "custom", "form"),
    [
        (f"{PROTOBUF},application/json", False, Form(PROTOBUF)),
        (f"{PROTOBUF},application/json", True, Form()),
        (f"{METADATA},application/json", True, Form(PROTOBUF, "PartialObjectMetadataList")),
        (f"{PROTOBUF};as=Table;g=meta.k8s.io;v=v1,application/json", False, Form()),
        ("*/*", False, Form()),
    ],
)
def test_reads_can_be_protobuf(accept: str, custom: bool, form: Form) -> None:
    assert negotiate(accept, custom=custom, protobuf=True) == form


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("", "application/json"),
        (PROTOBUF, PROTOBUF),
        (f"text/html,{PROTOBUF},*/*", PROTOBUF),
        ("application/yaml", "application/yaml"),
        ("garbage", "application/json"),
    ],
)
def test_errors_come_in_what_is_accepted(accept: str, media_type: str) -> None:
    assert error_media_type(accept) == media_type


def test_a_watch_tells_its_streams_too() -> None:
    with pytest.raises(StatusError, match="stream=watch"):
        negotiate("text/html", custom=False, stream=True)


def test_clauses_are_ordered_by_quality_then_specificity() -> None:
    clauses = parse_accept("*/*, text/html;q=0.5, application/*, application/json, nonsense")
    assert [c.mime for c in clauses] == ["application/json", "application/*", "*/*", "text/html"]
