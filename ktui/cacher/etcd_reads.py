"""Read the page of a LIST from etcd, with etcd's errors as a Status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ktui.etcd.errors import CompactedError, FutureRevisionError
from ktui.kube import continuetoken, status
from ktui.kube.routing.errors import future_revision
from ktui.kube.routing.parameters import DecodedToken
from ktui.kube.routing.plan import Plan
from ktui.kube.routing.scope import RequestScope
from ktui.kube.status import StatusError
from ktui.storage.store import StoreListRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ktui.kube.versions import Behaviour
    from ktui.storage.objects import StoredObject
    from ktui.storage.selection import SelectionPredicate
    from ktui.storage.store import Store

# Since 1.34 a revision that does not exist yet is a 504, before it was a bare 500. The change has no feature
# gate: a 1.36 that emulates 1.33, the oldest possible, answers 504 as well.
FUTURE_IS_TIMEOUT_SINCE = 33


@dataclass(frozen=True, slots=True)
class Listed:
    """Objects in key order and the ListMeta of the answer."""

    objects: Sequence[StoredObject]
    rv: int
    continue_: str
    remaining: int | None


async def list_from_etcd(
    store: Store,
    plan: Plan,
    revision: int,
    selection: SelectionPredicate,
    scope: RequestScope,
    token: DecodedToken,
    behaviour: Behaviour,
) -> Listed:
    """Read a page (or all) of etcd at `revision`, 0 for the newest. Raises StatusError."""
    request = StoreListRequest(
        namespace=scope.namespace or None,
        name=scope.name or None,
        selection=selection,
        limit=plan.limit,
        revision=revision,
        start_key=token.start,
        minimum_rv=0 if revision else plan.minimum,
        page_rule="doubling" if behaviour.minor >= 24 else "constant",
    )
    try:
        found = await store.list(request)
    except CompactedError:
        raise _expired(token) from None
    except FutureRevisionError:
        raise await _future(store, revision, behaviour) from None
    continue_ = continuetoken.encode(found.rv, found.next_start) if found.next_start else ""
    return Listed(found.objects, found.rv, continue_, found.remaining)


def _expired(token: DecodedToken) -> StatusError:
    if not token.start:
        return status.list_too_old()
    return status.continue_expired(continuetoken.encode(-1, token.start))


async def _future(store: Store, revision: int, behaviour: Behaviour) -> StatusError:
    if behaviour.minor < FUTURE_IS_TIMEOUT_SINCE:
        return future_revision()
    return status.too_large_rv(revision, await store.probe(), retry_after=0)
