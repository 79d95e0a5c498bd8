"""Validation errors of one field (upstream: field.Error): the texts and causes of a 422."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, ParamSpec, TypeAlias

from ktui.kube.golang.formatting import quote, to_json
from ktui.kube.names import subdomain_faults
from ktui.kube.status import MAX_CAUSES, StatusCause, StatusError, invalid_status

Path: TypeAlias = "tuple[Path | None, str]"
"""The path of the parent, None for the object itself, and the last part: `.name` or `[0]`."""


def joined(path: Path | None) -> str:
    """Return `.spec.containers[0]`. Call it only for paths that are reported.

    A body of 3 MB has room for a key of 1 MB with 100,000 members below it: all paths would take 100 GB.
    """
    parts: list[str] = []
    while path is not None:
        path, part = path
        parts.append(part)
    return "".join(reversed(parts))


MOST_CHARACTERS = 1_000_000


def within_limit(texts: Iterable[str]) -> Iterator[str]:
    """Yield the first texts, until they have MOST_CHARACTERS together."""
    room = MOST_CHARACTERS
    for text in texts:
        yield text
        room -= len(text)
        if room < 0:
            return


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
    """Return the error for a field that must not be set, or not to this value."""
    return FieldError(field, "FieldValueForbidden", f"Forbidden: {detail}")


def required(field: str, detail: str = "") -> FieldError:
    """Return the error for a missing field."""
    return FieldError(field, "FieldValueRequired", "Required value" + (f": {detail}" if detail else ""))


def invalid(field: str, value: Any, detail: str) -> FieldError:
    """Return the error for a value that violates a rule: a text as Go's `%q`, anything else as JSON."""
    why = f"Invalid value: {_shown(value)}" + (f": {detail}" if detail else "")
    return FieldError(field, "FieldValueInvalid", why)


def unfit(field: str, detail: str) -> FieldError:
    """Return the error for a value that violates a rule and is not shown (upstream: OmitValueType)."""
    return FieldError(field, "FieldValueInvalid", f"Invalid value: {detail}")


def too_many(field: str, count: int, most: int) -> FieldError:
    """Return the error for a list of more than `most` items."""
    return FieldError(field, "FieldValueTooMany", f"Too many: {count}: must have at most {most} items")


def not_supported(field: str, value: Any, supported: Iterable[str]) -> FieldError:
    """Return the error for a text outside a fixed set, or for a value that holds such a text."""
    why = f"Unsupported value: {_shown(value)}: supported values: {', '.join(map(quote, supported))}"
    return FieldError(field, "FieldValueNotSupported", why)


def _shown(value: Any) -> str:
    return quote(value) if isinstance(value, str) else to_json(value).decode()


def not_found_value(field: str, value: str) -> FieldError:
    """Return the error for a reference to something that is missing in the object."""
    return FieldError(field, "FieldValueNotFound", f"Not found: {quote(value)}")


def too_long(field: str, limit: int) -> FieldError:
    """Return the error for a string of more than `limit` bytes."""
    return FieldError(field, "FieldValueTooLong", f"Too long: may not be more than {limit} bytes")


def limited(rule: Callable[P, Iterator[FieldError]]) -> Callable[P, list[FieldError]]:
    """Wrap a rule to return at most one error more than a response shows, by number and by length.

    A body of 3 MB has room for 180,000 invalid labels.
    """

    @functools.wraps(rule)
    def first_errors(*args: P.args, **kwargs: P.kwargs) -> list[FieldError]:
        found: list[FieldError] = []
        room = MOST_CHARACTERS
        for error in islice(rule(*args, **kwargs), MAX_CAUSES + 1):
            found.append(error)
            if room < 0:
                break
            room -= len(error.field) + len(error.message)
        return found

    return first_errors


def aggregate(errors: Iterable[FieldError]) -> str:
    """Join several errors into one message: without duplicates, in brackets if there is more than one."""
    texts = list(dict.fromkeys(map(str, errors)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def invalid_object(kind: str, group: str, name: str, errors: Iterable[FieldError]) -> StatusError:
    """Return the 422 for these errors; `kind` is the object's kind, not its plural."""
    return invalid_status(kind, group, name, [StatusCause(e.reason, e.message, e.field) for e in errors])


_HTTP_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")


def domain_path(value: str) -> Iterator[FieldError]:
    """A path that begins with a domain, such as `acme.io/foo`."""
    domain, slash, path = value.partition("/")
    if not value:
        yield required("")
    elif not (slash and domain and path):
        yield invalid("", value, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from (invalid("", domain, why) for why in subdomain_faults(domain))
        if not _HTTP_PATH.fullmatch(path):
            why = f"Invalid path (regex used for validation is '{_HTTP_PATH.pattern}')"
            yield invalid("", path, why)
