"""The reason for each route: one short sentence per id, ready to show.

Prefixes: `v.` rejected by validation, `d.` delegated to etcd, `n.` the cache is not ready, `c.` served from
the cache, `e.` an error that follows, `g.` a GET, `w.` a WATCH.
"""

from __future__ import annotations

LIST_REASONS: dict[str, str] = {
    "v.match_needs_rv": "rejected: resourceVersionMatch is only legal together with resourceVersion (422)",
    "v.match_with_cont": "rejected: resourceVersionMatch may not be combined with a continue token (422)",
    "v.match_unknown": "rejected: resourceVersionMatch must be Exact or NotOlderThan (422)",
    "v.exact_zero": "rejected: Exact match at resourceVersion 0 is meaningless (422)",
    "v.send_initial": "rejected: sendInitialEvents is only legal on a watch (422)",
    "v.bad_option": "rejected: a parameter or selector cannot be understood (400)",
    "v.bad_shards": "rejected: shardSelector is not a selector of shards (a bare 500)",
    "v.rv_with_cont": "rejected: a continue token already pins the revision, resourceVersion must be "
        "empty or 0 (400)",
    "v.bad_continue": "rejected: the continue token cannot be decoded (400)",
    "v.bad_rv": "rejected: resourceVersion is not an unsigned integer",
    "d.nocache": "this resource has no watch cache (events, or cache disabled): every read goes to etcd",
    "d.unset": "no resourceVersion means 'most recent'; this version has no consistent read from cache, "
        "so a quorum read from etcd is needed",
    "d.unset_noprogress": "no resourceVersion means 'most recent'; the cache could prove freshness only "
        "with etcd progress requests, which this etcd version does not support reliably, so etcd is read",
    "d.continue": "continue token: this version's cache keeps no history to resume a page from, so etcd "
        "(MVCC) serves it",
    "d.limit": "limit with resourceVersion other than 0: this version's cache cannot paginate, so etcd "
        "serves the page",
    "d.exact": "an exact revision was requested; this version's cache only knows the latest state, so "
        "etcd serves the old revision",
    "d.legacy_exact": "limit plus a concrete resourceVersion without match means 'exactly this revision' "
        "(legacy rule); the cache cannot serve it, so etcd does",
    "d.exact_single": "exact revision for a single key: snapshots are only used for collection lists, so "
        "etcd serves it",
    "d.exact_nosnap": "exact/continued revision is older than the oldest snapshot in the cache, so etcd "
        "serves it",
    "d.exact_future": "exact/continued revision is newer than the cache and etcd cannot be asked for "
        "progress, so etcd serves it",
    "d.cont_neg_noprog": "continue at 'latest' is a consistent read, but etcd progress requests are "
        "unsupported, so etcd serves it",
    "d.match_other": "unsupported match value: delegated",
    "n.rv0_notready": "cache not initialised and any version is acceptable (resourceVersion 0): read etcd "
        "instead of waiting",
    "n.limit_notready": "cache not initialised, unfiltered page with a limit is cheap enough: read etcd",
    "n.429": "cache not initialised: request refused with 429 instead of stampeding etcd",
    "n.wait": "cache not initialised: request blocks until the cache is ready (or the request times out)",
    "c.rv0": "resourceVersion 0 accepts any version: served from memory without contacting etcd",
    "c.rv0_limit": "resourceVersion 0 is served from memory and limit is ignored: the full collection is "
        "returned",
    "c.atleast": "resourceVersion N (not older than): served from memory once the cache has reached N",
    "c.atleast_wait": "resourceVersion N is ahead of the cache: waits up to 3s for the cache to reach N, "
        "then serves from memory",
    "c.consistent": "no resourceVersion: one single-key etcd read learns the current revision, the cache "
        "waits until it has seen it (up to 3s, requesting progress from etcd every 100ms), then answers "
        "from memory",
    "c.single": "metadata.name selector: single key looked up in memory",
    "c.snap_exact": "exact revision found in a cache snapshot",
    "c.snap_future": "exact revision is ahead of the cache: waits for progress (up to 3s), then serves "
        "the snapshot at that revision",
    "c.snap_cont": "continue token resumed from the cache snapshot taken at the first page's revision",
    "c.cont_latest": "continue at 'latest' (after an expired token) served as a consistent read from "
        "memory; pages may be mutually inconsistent",
    "c.bug133": "1.33.0-1.33.2: consistent read with limit probes etcd, misses the (absent) snapshot and "
        "falls back to an exact etcd read at the probed revision",
    "e.expired_list": "etcd already compacted that revision: 410 Expired",
    "e.expired_cont": "the first page's revision was compacted: 410 Expired with an 'inconsistent "
        "continue' token to go on at latest",
    "e.future": "that revision does not exist yet in etcd",
    "e.toolarge_cache": "the cache did not reach that revision within 3s: 504 Too large resource version",
    "e.toolarge_etcd": "etcd's current revision is below the requested minimum: 504 Too large resource "
        "version",
}  # fmt: skip

GET_REASONS: dict[str, str] = {
    "g.unset": "GET without resourceVersion is always a quorum read of one key in etcd (no version serves "
        "it from cache)",
    "g.nocache": "resource has no watch cache",
    "g.notready_rv0": "cache not initialised, resourceVersion 0 accepts any version: read etcd",
    "g.notready": "cache not initialised: single-key reads are cheap, read etcd",
    "g.wait": "cache not initialised: blocks until ready (503 if the wait is aborted, 1.24+)",
    "g.rv0": "resourceVersion 0: served from memory",
    "g.atleast": "served from memory, the cache has already reached the requested revision",
    "g.wait3": "waits up to 3s for the cache to reach the requested revision, then memory",
    "g.toolarge": "cache (or etcd) never reached the requested revision",
    "g.badrv": "resourceVersion is not an unsigned integer",
}  # fmt: skip

WATCH_REASONS: dict[str, str] = {
    "w.nocache": "resource has no watch cache: a dedicated etcd watch is opened",
    "w.badmatch": "rejected by watch option validation (422)",
    "w.notready_wait": "cache not initialised: watch establishment blocks until ready",
    "w.notready_429": "cache not initialised: 429",
    "w.initial_any": "synthetic ADDED events for the current cached state (key order from 1.27 on via "
        "interval; unordered map order before), then live events; may start from stale state",
    "w.initial_fresh": "WatchList default: the current etcd revision is probed, the cache catches up "
        "(<=3s), then ADDED for every object, then live events",
    "w.initial_atleast": "cache catches up with the requested revision (<=3s), then ADDED for every "
        "object, then live events",
    "w.bookmark_end": "a BOOKMARK annotated k8s.io/initial-events-end=true follows the initial events",
    "w.since": "events after the given revision replayed from the event buffer, then live events",
    "w.now": "no initial events: live events only, from the newest (unset) or any (0) revision",
    "w.tooold": "revision fell out of the buffer: one ERROR event (410 Expired 'too old resource version: "
        "X (Y)') inside a 200 response",
    "w.future": "revision not reached yet: accepted, events with greater revision are delivered when they "
        "appear",
    "w.noprogress": "streaming list needs etcd progress requests: one ERROR event (500), client-go falls "
        "back to LIST",
    "w.toolarge": "cache did not reach the revision in 3s: one ERROR event (504)",
    "w.etcd_list": "etcd store: lists the prefix first (ADDED events; in pages of 10000 from 1.29 on, as "
        "a RangeStream from 1.37 on), then watches from the list revision + 1",
    "w.etcd_since": "etcd store: watches from revision + 1",
    "w.etcd_compacted": "etcd compacted that revision: one ERROR event (410 'The resourceVersion for the "
        "provided watch is too old.')",
}  # fmt: skip

REASONS: dict[str, str] = LIST_REASONS | GET_REASONS | WATCH_REASONS
