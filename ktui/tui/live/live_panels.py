"""The content of the live screens' panels, built from the state."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual.content import Content

from ktui.contract.events.live import LevelConfig
from ktui.core.format import (
    duration,
    frequency,
    integer,
    long_bytes,
    long_milliseconds,
    many,
    times,
)
from ktui.core.live.findings import verdict
from ktui.core.live.live_state import LiveState
from ktui.core.live.processes import AdmissionRow, ProcessGrowth
from ktui.core.live.resource_routes import Checks, Number, ResourceRoutes, checks_text, saving_text
from ktui.tui.keys.hints import key_of
from ktui.tui.live.live_columns import SEVERITY
from ktui.tui.live.live_rows import (
    WINDOW,
    CacheAt,
    FindingLine,
    LevelLine,
    ReplicaLine,
    RouteLine,
    RunningLine,
    SchemaLine,
    finding_lines,
    replicas,
    running,
    since_the_start,
)
from ktui.tui.widgets.lines import first_lines, labelled, line, longest_that_fits, wrapped

MUTED, STRONG = "$ink-muted", "$ink-strong"
NO_LIST = "no LIST by clients"
_pair = partial(labelled, 11)


def verdict_content(live: LiveState, routes: Sequence[RouteLine], width: int, height: int) -> Content:
    """Return the verdict, what the figures are of, and which paths were denied."""
    scope = longest_that_fits([line((text, MUTED)) for text in _scopes(live)], width)
    first, *others = _verdict(live, routes)
    return first_lines(
        [part.truncate(width, ellipsis=True) for part in (first, scope, *others)], width, height
    )


def flow_content(levels: Sequence[LevelLine], width: int) -> Content:
    """Return a sentence on waiting and rejected requests."""
    waiting = [row for row in levels if row.queued]
    rejected = sum(row.row.rejected or 0 for row in levels)
    if waiting:
        names = ", ".join(f"{many(int(row.queued or 0), 'request')} in {row.level}" for row in waiting)
        first = (f"waiting for seats: {names}", "bold $warning")
    else:
        first = ("no request waits for its seats", f"bold {STRONG}")
    span = duration(max((row.row.seconds for row in levels), default=0.0))
    rest = f"; {many(int(rejected), 'request')} rejected in the last {span}" if rejected else ""
    return line(first, (rest, "bold $error")).truncate(width, ellipsis=True)


def verdict_lines(live: LiveState, routes: Sequence[RouteLine]) -> int:
    """Return how many lines the verdict takes."""
    return len(_verdict(live, routes)) + 1


def _verdict(live: LiveState, routes: Sequence[RouteLine]) -> list[Content]:
    first = verdict([item.routes for item in routes]) if live.replicas else not_known(live)
    rendered = [line((first, f"bold {STRONG}"))]
    whole = [item.routes for item in since_the_start(live)]
    if whole and max(row.seconds for row in whole) >= 2 * WINDOW:
        rendered.append(line((f"since the first scrape: {verdict(whole)}", "$foreground")))
    server = live.server
    for denied in server.denied if server is not None else ():
        grant = f"; {denied.rule} would grant it (`ktui rbac`)" if denied.rule else ""
        text = f"{denied.path}: {denied.reason}{grant}"
        rendered.append(line(("denied ", "bold $warning"), (text, "$foreground")))
    return rendered


def not_known(live: LiveState) -> str:
    """Return why there are no figures; "" if there are some."""
    if live.replicas:
        return "" if live.covered(WINDOW) else "one scrape so far: rates need two, nothing is judged yet"
    denied = live.server is not None and any(item.path == "/metrics" for item in live.server.denied)
    return "not known: /metrics may not be read" if denied else "not known: no scrape yet"


def span_text(live: LiveState) -> str:
    """Return the time that rates cover: `last 58s`, `one scrape so far`, `not known`."""
    covered = live.covered(WINDOW)
    return f"last {duration(covered)}" if covered else "one scrape so far" if live.replicas else "not known"


def _scopes(live: LiveState) -> list[str]:
    """Return what the figures are of, in variants, longest first."""
    reached = len(live.present)
    server, status = live.server, live.status
    expected = max(reached, (server.expected if server is not None else 0) or 0)
    replicas = f"{reached} of {many(expected, 'replica')}"
    origin = "by Prometheus" if server is not None and server.origin == "prometheus" else "metrics"
    every = f", every {duration(status.interval)}" if status is not None and status.interval else ""
    if not (covered := live.covered(WINDOW)):
        return [f"{origin} of {replicas}{every}"]
    span = f"last {duration(covered)}"
    return [
        f"{origin} of {replicas}{every}; rates over the {span}, all clients together; ? not reported",
        f"{origin} of {replicas}{every}; rates over the {span}; ? not reported",
        f"{origin} of {replicas}{every}; rates over the {span}",
        f"{origin} of {replicas}{every}",
    ]


def finding_content(live: LiveState, row: FindingLine | None, width: int, height: int) -> Content:
    """Return a finding with its advice."""
    if row is None:
        none = f"nothing to change was found in the {span_text(live)}"
        return line((not_known(live) or none, MUTED))
    finding = row.finding
    word, style = SEVERITY[finding.severity]
    rendered = [line((word, style), (f"  {finding.subject}: {finding.text}", STRONG))]
    rendered += wrapped(finding.advice, width, "$foreground")
    rendered.append(line(("metric  ", MUTED), (finding.metric, MUTED)))
    return first_lines(rendered, width, height)


def _count(value: Number) -> str:
    return "?" if value is None else integer(round(value))


def route_content(live: LiveState, row: RouteLine | None, width: int, height: int) -> Content:
    """Return what happened to a resource's LISTs in the window, in words, and the findings on it."""
    if row is None:
        return line((not_known(live) or f"{NO_LIST} in the {span_text(live)}", MUTED))
    if row.checks is not None:
        return checks_content(row.checks, width, height)
    routes = row.routes
    wait = routes.wait_ms
    waited = f"; waited {long_milliseconds(wait)} on average" if wait is not None else ""
    rendered = [
        _pair("cache", f"{_count(routes.cache.lists)} LISTs ({_count(routes.indexed)} by an index) read "
                       f"{_count(routes.cache.fetched)} objects, returned {_count(routes.cache.returned)}"),
        _pair("etcd", f"{_count(routes.etcd.lists)} LISTs read {_count(routes.etcd.fetched)} objects, "
                      f"returned {_count(routes.etcd.returned)}; {_count(routes.probes)} revision probes"),
        _pair("consistent", f"{_count(routes.success)} answered by the cache, {_count(routes.fallback)} fell "
                            f"back to etcd{waited}"),
        _pair("answers", _answers(routes)),
        _pair("stored", _stored(routes)),
        _pair("watches", f"{_count(routes.watches)} open, kube-apiserver's own included"),
    ]  # fmt: skip
    found = [item.finding for item in finding_lines(live)]
    for finding in [item for item in found if item.subject == routes.resource]:
        word, style = SEVERITY[finding.severity]
        rendered.append(line((word, style), (f"  {finding.text}", "$foreground")))
        rendered += wrapped(finding.advice, width, MUTED, indent="  ")
    rendered.append(
        line(("unknown here: which client, resourceVersion, limit, selectors — ktui audit", MUTED))
    )
    return first_lines(rendered, width, height)


def checks_content(checks: Checks, width: int, height: int) -> Content:
    """Return what the consistency checks read and found, and what switching them off would save."""
    rendered = wrapped(checks_text(checks), width, "$foreground")
    rendered += wrapped(saving_text(checks), width, "$foreground")
    rendered.append(
        line(("metric  apiserver_storage_consistency_checks_total; no part of clients' LISTs", MUTED))
    )
    return first_lines(rendered, width, height)


def requests_content(live: LiveState, row: RouteLine | None, width: int, height: int) -> Content:
    """Return a resource's requests by verb."""
    if row is None:
        return line((not_known(live) or "no request", MUTED))
    routes = row.routes
    rendered = [
        _pair("resource", f"{routes.resource}, {span_text(live)}"),
        _pair("reads", f"{_count(routes.gets)} GETs ({_count(routes.get_errors)} failed), "
                       f"{_count(routes.lists)} LISTs, {_count(routes.watch_requests)} WATCHes ended"),
        _pair("writes", f"{_count(routes.creates)} creates, {_count(routes.updates)} updates, "
                        f"{_count(routes.patches)} patches, {_count(routes.deletes)} deletes"),
        _pair("etcd", f"{_count(routes.etcd_gets)} gets: GETs without resourceVersion, probes, writes"),
        _pair("timeouts", f"{_count(routes.terminated_requests)} ended by the server, "
                          f"{_count(routes.aborted)} given up"),
    ]  # fmt: skip
    return first_lines(rendered, width, height)


def admission_content(live: LiveState, row: AdmissionRow | None, width: int, height: int) -> Content:
    """Return the calls of a webhook or plugin."""
    if row is None:
        return line((not_known(live) or "no webhook or plugin was called", MUTED))
    rendered = [
        _pair(row.kind, row.name),
        _pair("calls", f"{_count(row.calls)} in the {span_text(live)}, {long_milliseconds(row.ms)} each, "
                       f"{_count(row.rejected)} rejected the request"),
        line(("a write waits for all webhooks that match it, and holds its seats meanwhile", MUTED)),
    ]  # fmt: skip
    return first_lines(rendered, width, height)


def _answers(routes: ResourceRoutes) -> str:
    size = f", {long_bytes(routes.mean_bytes)} each" if routes.mean_bytes is not None else ""
    time = f", {long_milliseconds(routes.ms)} each" if routes.ms is not None else ""
    factor = routes.amplification
    read = f", {times(factor)} as many objects read as returned" if factor is not None else ""
    return f"{_count(routes.lists)} in {duration(routes.seconds)}{size}{time}{read}"


def _stored(routes: ResourceRoutes) -> str:
    if routes.objects is None:
        return "not reported"
    size = f", about {long_bytes(routes.size_bytes)}" if routes.size_bytes is not None else ""
    return f"{_count(routes.objects)} objects{size}"


def running_content(_live: LiveState, row: RunningLine | None, width: int, height: int) -> Content:
    """Return a sampled request in full."""
    if row is None:
        return line(
            ("no request runs that a sample could see: those of some milliseconds slip through", MUTED)
        )
    request = row.request
    how = "waits for its seats" if request.queued else f"holds {many(request.seats, 'seat')}"
    rendered = [
        line((f"{request.verb.upper()} ", STRONG), (request.path, STRONG)),
        _pair("user", request.user),
        _pair("level", f"{request.level} by flow schema {request.schema}"),
        _pair("state", f"{how}, {duration(row.age)} since it arrived, at replica {row.replica}"),
        line(("from a dump: a sample of this moment, without query parameters", MUTED)),
    ]
    return first_lines(rendered, width, height)


def note_content(text: str, _live: LiveState, _row: object, _width: int, _height: int) -> Content:
    """Return a sentence about a table, the same for each of its rows."""
    return line((text, MUTED))


users_content = partial(note_content, "seats held on average over the samples; totals by client: ktui audit")
queues_content = partial(
    note_content, "a level puts each flow into a few of its queues: a long one is one flow that waits"
)


def cache_content(_live: LiveState, row: CacheAt | None, width: int, height: int) -> Content:
    """Return the state of a cache at one replica."""
    if row is None:
        return line(("no watch cache is reported", MUTED))
    routes = row.routes
    behind = "not reported before 1.31" if row.behind is None else many(row.behind, "revision")
    rendered = [
        _pair("cache", f"{row.resource} at replica {row.replica}"),
        _pair("behind", f"{behind} (the newest of the replicas, each at its last scrape)"),
        *_probed(row),
        _pair("LISTs", f"{_count(routes.cache.lists)} served, {_count(routes.waits)} waited for it"),
        _pair("events", f"{_count(routes.cache_events)} from etcd in {duration(routes.seconds)}"),
        _pair("buffer", f"{_count(row.capacity)} events, enlarged {_count(routes.capacity_increases)} times"),
        _pair(
            "checks",
            f"{_count(routes.checks_ok)} agreed with etcd, {_count(routes.checks_failed)} differed, "
            f"{_count(routes.checks_errored)} ended with an error",
        ),
    ]
    return first_lines(rendered, width, height)


def _probed(row: CacheAt) -> list[Content]:
    if row.probe is None:
        return [_pair("probe", f"{key_of('live.probe')} asks how far it is behind etcd")]
    lag = integer(row.lag or 0)
    return [_pair("probe", f"{lag} revisions behind etcd, by two reads in {row.probe.ms:.0f} ms")]


def schema_content(_live: LiveState, row: SchemaLine | None, width: int, height: int) -> Content:
    """Return a flow schema with all its subjects."""
    if row is None:
        return line(("FlowSchemas have not been read", MUTED))
    schema = row.schema
    flows = f", flows by {schema.distinguisher.removeprefix('By').lower()}" if schema.distinguisher else ""
    drawn = [
        line((schema.name, STRONG), (f" → {schema.level}{flows}", "$foreground")),
        *(line((f"  {subject}", MUTED)) for subject in schema.subjects),
    ]
    return first_lines(drawn, width, height)


def _configured(config: LevelConfig | None) -> list[Content]:
    """Return what the level's PriorityLevelConfiguration sets; [] if it has not been read."""
    if config is None:
        return []
    words = [config.type.lower()]
    if config.shares:
        words.append(f"{many(config.shares, 'share')}")
    if config.queues:
        words.append(f"{many(config.queues, 'queue')} of {config.queue_length}, hands of {config.hand_size}")
    elif config.response:
        words.append("rejects at once when full" if config.response == "Reject" else config.response)
    if config.lendable:
        words.append(f"lends {config.lendable} %")
    return [_pair("configured", ", ".join(word for word in words if word))]


def level_content(live: LiveState, row: LevelLine | None, width: int, height: int) -> Content:
    """Return a level's seats and configuration, and the requests in it."""
    if row is None:
        return line(("no priority level is reported", MUTED))
    level = row.row
    requests = [item for item in running(live) if item.request.level == row.level]
    configured = live.flow.levels if live.flow is not None else ()
    config = next((item for item in configured if item.name == row.level), None)
    reasons = ", ".join(f"{name.replace('_', ' ')} {integer(round(n))}" for name, n in level.reasons.items())
    rendered = [
        _pair("seats", f"{_count(level.nominal)} nominal, {_count(level.current)} after borrowing, "
                       f"{_count(row.held)} held"),
        _pair("rejected", f"{_count(level.rejected)} in {duration(level.seconds)}"
                          + (f": {reasons}" if reasons else "")),
        *_configured(config),
    ]  # fmt: skip
    if not requests:
        rendered.append(line(("no request of it in the newest sample", MUTED)))
    for item in requests:
        request = item.request
        mark = ("◐ ", "bold $warning") if request.queued else ("● ", "$success")
        rendered.append(
            line(mark, (f"{duration(item.age):>6} {many(request.seats, 'seat'):>8}  ", MUTED),
                 (request.user, STRONG), (f"  {request.verb.upper()} {request.path}", "$foreground"))
        )  # fmt: skip
    return first_lines(rendered, width, height)


def replicas_content(live: LiveState, _row: ReplicaLine | None, width: int, height: int) -> Content:
    """Return a line for each replica, and how many were never reached."""
    rows, rendered = replicas(live), []
    for row in rows:
        scrape = row.row.scrape
        mark = ("● ", "$success") if row.present else ("○ ", "bold $warning")
        memory = f", {long_bytes(scrape.memory_bytes)}" if scrape.memory_bytes is not None else ""
        state = f"up {duration(row.uptime)}" if row.present else f"was up {duration(row.uptime)}"
        rendered.append(
            line(mark, (f"replica {row.name}", STRONG),
                 (f"  {scrape.version or '?'}, {state}{memory}", "$foreground"))
        )  # fmt: skip
        down = row.row.down
        if down is not None:
            rendered.append(line((f"  down: {down.reason}", "$warning")))
        elif not row.present:
            rendered.append(line(("  not scraped any more", "$warning")))
        elif trend := _trend(row.growth):
            rendered.append(line((f"  {trend}", MUTED)))
    expected = (live.server.expected if live.server is not None else 0) or 0
    present = sum(row.present or row.row.down is not None for row in rows)
    if expected > present:
        rendered.append(
            line((f"○ {many(expected - present, 'replica')} of the Leases never reached", "bold $warning"))
        )
    return first_lines(rendered or [line(("none scraped yet", MUTED))], width, height)


def _trend(growth: ProcessGrowth) -> str:
    """Return the trend of memory and CPU: `memory +12 MB in 1m, CPU 0.35 cores`; "" if not known."""
    found = []
    if growth.grown is not None:
        sign = "+" if growth.grown >= 0 else "−"
        found.append(f"memory {sign}{long_bytes(abs(growth.grown))} in {duration(growth.seconds)}")
    if growth.cores is not None:
        found.append(f"CPU {growth.cores:.2f} cores")
    return ", ".join(found)


def etcd_content(live: LiveState, row: RouteLine | None, width: int, height: int) -> Content:
    """Return what kube-apiserver reports of its etcd."""
    sizes = [r.scrape.storage_bytes for r in live.present if r.scrape.storage_bytes is not None]
    rendered = [_pair("database", long_bytes(max(sizes)) if sizes else "? not reported")]
    if row is not None:
        routes = row.routes
        ms = long_milliseconds(routes.etcd_ms) if routes.etcd_ms is not None else "?"
        rendered += [
            _pair("resource", routes.resource),
            _pair("calls", f"{_count(routes.etcd_calls)} in {duration(routes.seconds)}, {ms} each: "
                           f"{_count(routes.etcd_gets)} get, {_count(routes.etcd_list_calls)} list, "
                           f"{_count(routes.etcd_writes)} writes, {_count(routes.etcd_errors)} failed"),
            _pair("LISTs", f"{_count(routes.etcd.lists)} read {_count(routes.etcd.fetched)} objects"),
        ]  # fmt: skip
    rendered.append(
        line(("unknown here: bytes read, fsync, leader, quota: those only etcd itself reports", MUTED))
    )
    return first_lines(rendered, width, height)


def watch_content(_live: LiveState, row: RouteLine | None, width: int, height: int) -> Content:
    if row is None:
        return line(("no WATCH is open", MUTED))
    routes = row.routes
    sent, ms = routes.per_second(routes.watch_events), routes.watch_list_ms
    live_after = f", live after {long_milliseconds(ms)} on average" if ms is not None else ""
    rendered = [
        _pair("resource", routes.resource),
        _pair("open", f"{_count(routes.watches)}, kube-apiserver's own included"),
        _pair("sent", f"{_count(routes.watch_events)} events in {duration(routes.seconds)}"
                      + (f" ({frequency(sent)})" if sent else "")),
        _pair("initial", f"{_count(routes.init_events)} events to new WATCHes; {_count(routes.watch_lists)} "
                         f"WatchLists{live_after}"),
        _pair("cut off", f"{_count(routes.terminated)} because the client read too slowly"),
        line(("unknown here: which clients watch, and from which resourceVersion", MUTED)),
    ]  # fmt: skip
    return first_lines(rendered, width, height)
