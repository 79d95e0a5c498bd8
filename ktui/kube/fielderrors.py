"""Validation errors of one field (upstream: field.Error): the texts and causes of a 422."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, ParamSpec

from ktui.kube.golang.jsonencode import to_json
from ktui.kube.golang.quoting import quote
from ktui.kube.status import MAX_CAUSES, StatusCause, StatusError, invalid

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class FieldError:
    """`field: message`; `reason` is the type of the cause."""

    field: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def forbidden(field: str, detail: str) -> FieldError:
    """A field that must not be set (to this value)."""
    return FieldError(field, "FieldValueForbidden", f"Forbidden: {detail}")


def required(field: str, detail: str = "") -> FieldError:
    """A field that is missing."""
    return FieldError(
        field, "FieldValueRequired", f"Required value: {detail}" if detail else "Required value"
    )


def invalid_value(field: str, value: str, detail: str) -> FieldError:
    """A string that violates a rule."""
    return FieldError(field, "FieldValueInvalid", f"Invalid value: {quote(value)}: {detail}")


def invalid_number(field: str, value: int, detail: str) -> FieldError:
    """A number that violates a rule."""
    return FieldError(field, "FieldValueInvalid", f"Invalid value: {value}: {detail}")


def invalid_tree(field: str, value: Any, detail: str) -> FieldError:
    """An object or a list that violates a rule, shown as JSON."""
    return FieldError(field, "FieldValueInvalid", f"Invalid value: {_json(value)}: {detail}")


def not_supported(field: str, value: str | list[str], supported: Iterable[str]) -> FieldError:
    """A string outside a fixed set, or a list with one that is outside."""
    shown = quote(value) if isinstance(value, str) else _json(value)
    choices = ", ".join(map(quote, supported))
    return FieldError(
        field, "FieldValueNotSupported", f"Unsupported value: {shown}: supported values: {choices}"
    )


def not_found_value(field: str, value: str) -> FieldError:
    """A reference to something that is not in the object."""
    return FieldError(field, "FieldValueNotFound", f"Not found: {quote(value)}")


def too_long(field: str, limit: int) -> FieldError:
    """A string of more than `limit` bytes."""
    return FieldError(field, "FieldValueTooLong", f"Too long: may not be more than {limit} bytes")


def limited(rule: Callable[P, Iterator[FieldError]]) -> Callable[P, list[FieldError]]:
    """Return the errors that a rule yields, at most one more than a response shows.

    A body of 3 MB has room for 180,000 invalid labels.
    """

    @functools.wraps(rule)
    def first_errors(*args: P.args, **kwargs: P.kwargs) -> list[FieldError]:
        return list(islice(rule(*args, **kwargs), MAX_CAUSES + 1))

    return first_errors


def _json(value: Any) -> str:
    return to_json(value).decode()


def aggregate(errors: Iterable[FieldError]) -> str:
    """Join several errors into one message: duplicates once, more than one in brackets."""
    texts = list(dict.fromkeys(map(str, errors)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def invalid_object(kind: str, group: str, name: str, errors: Iterable[FieldError]) -> StatusError:
    """The 422 for these errors; `kind` is the object's kind, not its plural."""
    return invalid(kind, group, name, [StatusCause(e.reason, e.message, e.field) for e in errors])
