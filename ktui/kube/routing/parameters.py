"""The inputs of the routing rules, from a request's options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from ktui.kube import continuetoken
from ktui.kube.golang.formatting import NumError, parse_uint
from ktui.kube.names import dns_label_faults, path_segment_faults
from ktui.kube.selectors import FieldTerm
from ktui.kube.status import StatusError

if TYPE_CHECKING:
    from ktui.kube.selectors import FieldSelector, LabelSelector
    from ktui.kube.versions import Behaviour

MAX_REVISION = (1 << 63) - 1
"""etcd's revisions are signed. Go converts a larger resourceVersion to a negative number, which no revision
has."""


def parse_rv(text: str) -> int | None:
    """Return the number, 0 for unset, None if `text` is not an unsigned 64-bit number."""
    if not text:
        return 0
    try:
        return parse_uint(text)
    except NumError:
        return None


NAME, NAMESPACE = "metadata.name", "metadata.namespace"


def shards_filter(behaviour: Behaviour) -> bool:
    """Return True if a shard without other selectors counts as a filter, as since 1.37.

    1.36 does not count a shard without other selectors as a filter (k8s.io/apiserver v0.36.3,
    storage/selection_predicate.go:155-157; fixed by cfb60a655dd2 of 2026-07-13): a page has the
    remainingItemCount of the whole collection (storage/continue.go:114), and a WATCH that etcd serves sends
    every object (storage/etcd3/watcher.go:142, 560).
    """
    return behaviour.minor >= 37


class RequestScope(Struct, frozen=True):
    """Namespace and name after narrowing, "" for all.

    `single`: one key, not a collection. `narrowed`: a metadata.namespace selector narrowed the prefix; it
    stays in the predicate, so the request does not count as unfiltered. `selective`: selectors or a shard
    remain after narrowing. `unfiltered`: upstream's Predicate.Empty(), by which a page has a
    remainingItemCount and is streamed.
    """

    namespace: str
    name: str
    single: bool
    narrowed: bool
    selective: bool
    unfiltered: bool = False

    @property
    def prefix(self) -> str:
        """The common prefix of all keys of a collection, below the resource's own prefix."""
        return f"{self.namespace}/" if self.namespace else ""

    @property
    def key(self) -> str:
        """The key of a single object, below the resource's own prefix."""
        return self.prefix + self.name


def scope_of(
    namespace: str | None,
    name: str | None,
    labels: LabelSelector,
    fields: FieldSelector,
    behaviour: Behaviour,
    *,
    namespaced: bool,
    continued: bool,
    sharded: bool = False,
) -> RequestScope:
    """Narrow a LIST as kube-apiserver's registry does.

    A metadata.name selector turns the LIST into a single key if the key can be built; since 1.27 a
    metadata.namespace selector narrows it to one namespace. Neither applies to a continued LIST.
    """
    narrowed = False
    if namespaced and not namespace and behaviour.minor >= 27 and not continued:
        wanted = fields.requires(NAMESPACE)
        if wanted and not dns_label_faults(wanted):
            namespace, narrowed = wanted, True
    name = name or fields.requires(NAME) or ""
    buildable = bool(name) and (bool(namespace) or not namespaced) and not path_segment_faults(name)
    single = buildable and not continued
    used = {FieldTerm(NAME, name)} if single else set()
    if narrowed:
        used.add(FieldTerm(NAMESPACE, namespace or ""))
    selective = sharded or not labels.empty or not used.issuperset(fields.terms)
    plain = labels.empty and fields.empty
    unfiltered = plain and not (sharded and shards_filter(behaviour))
    return RequestScope(namespace or "", name if single else "", single, narrowed, selective, unfiltered)


class TokenState(StrEnum):
    """The state of a continue token."""

    NONE = "none"
    VALID = "valid"
    GARBAGE = "garbage"


@dataclass(frozen=True, slots=True)
class DecodedToken:
    """A decoded continue token, or the 400 for an invalid token. `rv` -1: continue at the latest revision."""

    state: TokenState = TokenState.NONE
    rv: int = 0
    start: str = ""
    error: StatusError | None = None


NO_TOKEN = DecodedToken()


def read_token(text: str) -> DecodedToken:
    """Decode `continue`; never raises."""
    if not text:
        return NO_TOKEN
    try:
        decoded = continuetoken.decode(text)
    except StatusError as error:
        return DecodedToken(TokenState.GARBAGE, error=error)
    return DecodedToken(TokenState.VALID, decoded.rv, decoded.start)
