"""A copy has the wanted object's values wherever the example has its own."""

from __future__ import annotations

import pytest

from ktui.cli.seed_copies import NotAlike, copy_of
from ktui.workloads.demo.pods import Create, Json


def sent(name: str, ip: str, **more: object) -> Create:
    body: Json = {"metadata": {"name": name}, "spec": {"host": name, "port": 80}, **more}
    return Create("/api/v1/things", body, {"ips": [{"ip": ip}]})


EXAMPLE = sent("a", "10.0.0.1")
STORED: Json = {
    "metadata": {
        "name": "a",
        "uid": "7",
        "managedFields": [{"fieldsV1": {"f:status": {"f:ips": {'k:{"ip":"10.0.0.1"}': {"f:ip": {}}}}}}],
    },
    "spec": {"host": "a", "port": 80, "default": "a"},
    "status": {"ips": [{"ip": "10.0.0.1"}]},
}


def test_a_copy_has_its_own_values_also_in_the_keys_of_managed_fields() -> None:
    copied = copy_of(STORED, EXAMPLE, sent("b", "10.0.0.2"))
    uid = copied["metadata"].pop("uid")
    assert uid != "7" and len(uid) == 36
    assert copied == {
        "metadata": {
            "name": "b",
            "managedFields": [{"fieldsV1": {"f:status": {"f:ips": {'k:{"ip":"10.0.0.2"}': {"f:ip": {}}}}}}],
        },
        "spec": {
            "host": "b",
            "port": 80,
            "default": "a",
        },  # the server's own default is no value of the client's
        "status": {"ips": [{"ip": "10.0.0.2"}]},
    }
    assert STORED["metadata"]["name"] == "a" and STORED["metadata"]["uid"] == "7"


def test_what_the_server_left_out_is_left_out_of_the_copy() -> None:
    stored = {name: value for name, value in STORED.items() if name != "status"}
    assert "status" not in copy_of(stored, EXAMPLE, sent("b", "10.0.0.2"))


@pytest.mark.parametrize(
    "wanted",
    [
        sent("b", "10.0.0.2", data={}),
        Create("", {**EXAMPLE.body, "spec": {"host": "b", "port": "80"}}, EXAMPLE.status),
        Create("", EXAMPLE.body, {"ips": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]}),
    ],
    ids=["another member", "another type", "a longer list"],
)
def test_what_differs_in_shape_is_no_copy(wanted: Create) -> None:
    with pytest.raises(NotAlike):
        copy_of(STORED, EXAMPLE, wanted)


def test_what_the_server_changed_is_no_value_to_replace() -> None:
    with pytest.raises(NotAlike):
        copy_of({**STORED, "spec": {"host": "A", "port": 80}}, EXAMPLE, sent("b", "10.0.0.1"))


def test_a_key_with_a_text_that_stands_for_two_is_no_copy() -> None:
    example = Create("", {**EXAMPLE.body, "spec": {"host": "10.0.0.1", "port": 80}}, EXAMPLE.status)
    stored = {**STORED, "spec": {"host": "10.0.0.1", "port": 80}}
    wanted = Create(
        "", {**EXAMPLE.body, "spec": {"host": "other", "port": 80}}, {"ips": [{"ip": "10.0.0.2"}]}
    )
    with pytest.raises(NotAlike):
        copy_of(stored, example, wanted)
