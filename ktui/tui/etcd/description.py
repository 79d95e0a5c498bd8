"""One key in words: its type, revisions, lease, and whether the watch cache has the same."""

from __future__ import annotations

from textual.content import Content

from ktui.contract.etcd import KeyDetail
from ktui.core.format import duration, integer, long_bytes, percent
from ktui.tui.etcd.places import lease_id
from ktui.tui.etcd.sizes import heaviest
from ktui.tui.widgets.lines import line, lines, longest_that_fits, pad

NOT_ASKED = (
    ", TTL not requested: read-only mode sends only Range, Watch, Status",
    ", TTL not requested",
)


def about_key(detail: KeyDetail, width: int, height: int) -> Content:
    """Return the metadata of one key, in seven lines or in three."""
    stored = f" · {detail.encoding or 'unknown encoding'} · {long_bytes(detail.raw_bytes)} stored"
    rows = [
        line((_tail(detail.key, width), "bold $ink-strong")),
        line((detail.type_name or "not a Kubernetes object", "$foreground"), (stored, "$ink-muted")),
    ]
    if height < 5:
        rows.append(_short_history(detail, width))
    else:
        rows.append(_revision("created", detail.create_revision))
        rows.append(_revision("changed", detail.mod_revision, _version(detail)))
        rows += [_lease(detail, width), _cache(detail), _heaviest(detail)]
    return lines(rows)


def about_change(older: KeyDetail | None, newer: KeyDetail, width: int) -> Content:
    """Return two revisions of a key and their sizes, for the lines above their difference."""
    rows = [line((_tail(newer.key, width), "bold $ink-strong"))]
    if older is None:
        rows.append(line(("the oldest revision in etcd: shown in full", "$ink-muted")))
        grown = newer.raw_bytes
    else:
        rows.append(_revision("from", older.mod_revision, f" · {long_bytes(older.raw_bytes)}"))
        grown = newer.raw_bytes - older.raw_bytes
    change = f" · {long_bytes(newer.raw_bytes)} ({grown:+,})".replace("-", "−")
    rows.append(_revision("to", newer.mod_revision, change))
    return lines(rows)


def _version(detail: KeyDetail) -> str:
    return f" (version {integer(detail.version)})" if detail.version else ""


def _short_history(detail: KeyDetail, width: int) -> Content:
    left = "" if not detail.remaining else f" · TTL {duration(detail.remaining)}"
    runs = [
        (f"rev {integer(detail.mod_revision)}", "$foreground"),
        (_version(detail), "$ink-muted"),
        (left, "$route-wait"),
    ]
    created = (f" · created at {integer(detail.create_revision)}", "$ink-muted")
    return longest_that_fits([line(*runs, created), line(*runs)], width)


def _lease(detail: KeyDetail, width: int) -> Content:
    if not detail.lease:
        return _labelled("lease", ("none: kept until deleted", "$ink-muted"))
    if detail.ttl is None:
        lease = (lease_id(detail.lease), "$foreground")
        return longest_that_fits([_labelled("lease", lease, (why, "$ink-muted")) for why in NOT_ASKED], width)
    left = "ended" if detail.ttl < 0 else f"{duration(detail.ttl)} left"
    return _labelled("lease", (lease_id(detail.lease), "$foreground"), (f", {left}", "$route-wait"))


def _cache(detail: KeyDetail) -> Content:
    copy = detail.cache
    if copy is None:
        return _labelled("cache", ("not filled: not compared", "$ink-muted"))
    at = f" at RV {integer(copy.cache_rv)}"
    if copy.same:
        return _labelled("cache", ("= same bytes", "$success"), (at, "$ink-muted"))
    if not copy.rv:
        return _labelled("cache", ("≠ missing", "$warning"), (at, "$ink-muted"))
    holds = f"≠ at RV {integer(copy.rv)}" if copy.rv != detail.mod_revision else "≠ other bytes"
    return _labelled("cache", (holds, "$warning"), (at, "$ink-muted"))


def _heaviest(detail: KeyDetail) -> Content:
    found = heaviest(detail.sizes)
    if found is None:
        return line("")
    return line((found.path, "$foreground"), (f" is {percent(found.share)} of the object", "$ink-muted"))


def _revision(label: str, revision: int, more: str = "") -> Content:
    return _labelled(label, (f"at revision {integer(revision)}", "$foreground"), (more, "$ink-muted"))


def _labelled(label: str, *parts: tuple[str, str]) -> Content:
    return line((pad(label, 9), "$ink-muted"), *parts)


def _tail(key: str, width: int) -> str:
    """Return the end of a key that is too long, as its beginning is that of its neighbours."""
    return key if len(key) <= width else f"…{key[1 - width :]}"
