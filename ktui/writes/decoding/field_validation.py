"""Errors for members of a wrong type and for unknown fields."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid, invalid_object
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bad_request
from ktui.writes.decoding.body import json_type

MAX_STRICT_ERRORS = 100  # sigs.k8s.io/json keeps no more

STRICT, WARN, IGNORE = "Strict", "Warn", "Ignore"


class Unfit(Exception):
    """A member with another type than the kind's; `reason` has the path."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def check_metadata(obj: Obj) -> None:
    """Labels and annotations must be maps of strings, finalizers a list of strings; raises Unfit."""
    metadata = obj.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise Unfit(no_metadata(metadata))
    for name in ("labels", "annotations"):
        texts = (metadata or {}).get(name)
        if texts is None:
            continue
        if not isinstance(texts, dict) or not all(isinstance(text, str | None) for text in texts.values()):
            raise Unfit(f"metadata.{name}: expected texts by name")
    if not isinstance((metadata or {}).get("finalizers") or [], list):
        raise Unfit("metadata.finalizers: expected a list")


def no_metadata(value: Any) -> str:
    """Go's error for a custom resource whose metadata is not an object."""
    return f"json: cannot unmarshal {json_type(value)} into Go value of type v1.ObjectMeta"


def refused(resource: Resource, reason: str) -> StatusError:
    """400 of a create or an update."""
    return misfit(resource.kind, resource.version, reason)


def misfit(kind: str, version: str, reason: str) -> StatusError:
    """400 for a document whose kind follows from its path."""
    version = version.rpartition("/")[2]
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {reason}')


def refused_patch(text: str, reason: str) -> StatusError:
    """422 of a patch: the JSON `text` of the patched object is quoted, as upstream does."""
    error = invalid("patch", text, reason)
    return invalid_object("", "", "", [FieldError(error.field, error.reason, error.message)])


def strict_error(faults: Iterable[str]) -> str:
    """The error of `fieldValidation=Strict`, with the first MAX_STRICT_ERRORS."""
    return f"strict decoding error: {', '.join(islice(faults, MAX_STRICT_ERRORS))}"


def unknown_texts(paths: Iterable[str]) -> list[str]:
    return [f'unknown field "{path}"' for path in paths]
