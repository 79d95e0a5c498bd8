"""Status bodies."""

import pytest

from ktui.kube import status
from ktui.kube.resources import BUILTIN, Resource


def _resource(name: str) -> Resource:
    found = BUILTIN.by_name(name)
    assert found is not None
    return found


def test_not_found_to_the_letter() -> None:
    assert status.not_found(_resource("leases"), 'a"b').body() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'leases.coordination.k8s.io "a\\"b" not found',
        "reason": "NotFound",
        "details": {"name": 'a"b', "group": "coordination.k8s.io", "kind": "leases"},
        "code": 404,
    }


@pytest.mark.parametrize(
    ("error", "code", "reason", "message"),
    [
        (status.already_exists(_resource("pods"), "x"), 409, "AlreadyExists", 'pods "x" already exists'),
        (
            status.conflict(_resource("pods"), "x"),
            409,
            "Conflict",
            'Operation cannot be fulfilled on pods "x": the object has been modified; '
            "please apply your changes to the latest version and try again",
        ),
        (status.forbidden(_resource("pods"), "", "no"), 403, "Forbidden", "pods is forbidden: no"),
        (status.unauthorized(), 401, "Unauthorized", "Unauthorized"),
        (status.bare_error("etcdserver: request is too large"), 500, "", "etcdserver: request is too large"),
        (status.list_too_old(), 410, "Expired", "The resourceVersion for the provided list is too old."),
        (status.too_old_resource_version(5, 9), 410, "Expired", "too old resource version: 5 (9)"),
        (
            status.server_timeout(_resource("pods"), "list"),
            500,
            "ServerTimeout",
            "The list operation against pods could not be completed at this time, please try again.",
        ),
    ],
)
def test_texts(error: status.StatusError, code: int, reason: str, message: str) -> None:
    assert (error.code, error.reason, error.message) == (code, reason, message)


def test_read_only_says_whose_rule_it_is() -> None:
    error = status.forbidden_read_only(_resource("pods"), "x")
    assert error.code == 403
    assert "ktui reads this etcd only" in error.message
    assert "--allow-writes" in error.message


def test_retry_after_goes_into_the_header_as_well() -> None:
    assert status.storage_initializing().headers == {"Retry-After": "1"}
    assert status.storage_initializing("boom", 7).headers == {"Retry-After": "7"}
    assert status.storage_initializing("boom").message == "storage is (re)initializing: boom"
    assert status.too_large_rv(9, 3).headers == {"Retry-After": "1"}
    assert status.too_large_rv(9, 3, retry_after=0).headers == {}
    assert status.list_too_old().headers == {}


def test_a_fresh_continue_token_stands_in_the_metadata() -> None:
    assert status.continue_expired("tok").body()["metadata"] == {"continue": "tok"}


def test_details_empty_or_left_out_as_upstream() -> None:
    assert status.path_not_found().body()["details"] == {}
    assert status.not_acceptable().body()["details"] == {}
    assert "details" not in status.not_acceptable_form().body()
    assert "details" not in status.bad_request("x").body()
    assert "reason" not in status.bare_error("x").body()


def test_equal_causes_are_told_once_but_listed_twice() -> None:
    cause = status.StatusCause("FieldValueInvalid", "bad", "metadata.uid")
    error = status.invalid_status("ConfigMap", "", "x", [cause, cause])
    assert error.message == 'ConfigMap "x" is invalid: metadata.uid: bad'
    assert error.details is not None
    assert len(error.details["causes"]) == 2


def test_success() -> None:
    assert status.success(_resource("configmaps"), "x", "u-1") == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "x", "kind": "configmaps", "uid": "u-1"},
    }
