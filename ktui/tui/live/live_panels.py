"""The content of the live screens' panels, built from the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from string import Formatter
from typing import Any

from textual.content import Content

from ktui.contract.events.live import LevelConfig
from ktui.core.format import duration, frequency, integer, long_bytes, long_milliseconds, many, times
from ktui.core.live.findings import Finding, findings, verdict
from ktui.core.live.live_state import LiveState, all_routes
from ktui.core.live.processes import AdmissionRow, LevelRow, ProcessGrowth
from ktui.core.live.resource_routes import ChecksRow, ResourceRoutes, checks_text, saving_text
from ktui.tui.keys.hints import key_of
from ktui.tui.live import live_rows as rows
from ktui.tui.live.live_columns import SEVERITY
from ktui.tui.widgets.lines import first_lines, labelled, line, longest_that_fits, wrapped

MUTED, STRONG = "$ink-muted", "$ink-strong"
Detail = Callable[[LiveState, Any, int], list[Content]]  # of a row, in a width
SPAN = "{span}"  # in a text: the time that rates cover
_pair = partial(labelled, 11)


def _note(text: str) -> Content:
    return line((text, MUTED))


class _Figures(Formatter):
    """Fills `{cache.lists} LISTs` with an object's attributes: "?" for a figure that is not reported."""

    def get_value(self, key: int | str, args: Any, kwargs: Any) -> Any:
        return kwargs[key] if key in kwargs else getattr(args[0], str(key))

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """`!t`: milliseconds, `!d`: seconds as a duration; other numbers are rounded."""
        if value is None:
            return "?"
        if conversion is not None:
            return {"t": long_milliseconds, "d": duration}[conversion](value)
        return integer(round(value)) if isinstance(value, int | float) else value


_filled = _Figures().format


def _pairs(row: object, *pairs: tuple[str, str], **more: object) -> list[Content]:
    """Return a line for each label and text, whose figures are attributes of `row`, or in `more`."""
    return [_pair(label, _filled(text, row, **more)) for label, text in pairs]


# The verdict.
def verdict_content(live: LiveState, lines: Sequence[Content], width: int, height: int) -> Content:
    """Return the first line of the verdict, what the figures are of, and the other lines."""
    scope = longest_that_fits(map(_note, _scopes(live)), width)
    return first_lines([lines[0], scope, *lines[1:]], width, height)


def flow_content(levels: Sequence[LevelRow], _width: int, _height: int) -> Content:
    """Return a sentence on waiting and rejected requests."""
    waiting = [row for row in levels if row.queued]
    rejected = sum(row.rejected or 0 for row in levels)
    if waiting:
        names = ", ".join(f"{many(int(row.queued or 0), 'request')} in {row.level}" for row in waiting)
        first = (f"waiting for seats: {names}", "bold $warning")
    else:
        first = ("no request waits for its seats", f"bold {STRONG}")
    span = duration(max((row.seconds for row in levels), default=0.0))
    rest = f"; {many(int(rejected), 'request')} rejected in the last {span}" if rejected else ""
    return line(first, (rest, "bold $error"))


def verdict_lines(live: LiveState) -> list[Content]:
    """Return the verdict in a line, then that since the start, and which paths were denied."""
    first = verdict(all_routes(live, rows.WINDOW)) if live.replicas else not_known(live)
    rendered = [line((first, f"bold {STRONG}"))]
    whole = all_routes(live)
    if whole and max(row.seconds for row in whole) >= 2 * rows.WINDOW:
        rendered.append(line((f"since the first scrape: {verdict(whole)}", "$foreground")))
    for denied in live.server.denied if live.server is not None else ():
        grant = f"; {denied.rule} would grant it (`ktui rbac`)" if denied.rule else ""
        why = (f"{denied.path}: {denied.reason}{grant}", "$foreground")
        rendered.append(line(("denied ", "bold $warning"), why))
    return rendered


def not_known(live: LiveState) -> str:
    """Return why there are no figures; "" if there are some."""
    if live.replicas:
        return "" if live.covered(rows.WINDOW) else "one scrape so far: rates need two, nothing is judged yet"
    denied = live.server is not None and any(item.path == "/metrics" for item in live.server.denied)
    return "not known: /metrics may not be read" if denied else "not known: no scrape yet"


def span_text(live: LiveState) -> str:
    """Return the time that rates cover: `last 58s`, `one scrape so far`, `not known`."""
    covered = live.covered(rows.WINDOW)
    return f"last {duration(covered)}" if covered else "one scrape so far" if live.replicas else "not known"


def _scopes(live: LiveState) -> list[str]:
    """Return what the figures are of, in variants, longest first."""
    reached = len(live.present)
    server, status = live.server, live.status
    expected = max(reached, (server.expected if server is not None else 0) or 0)
    origin = "by Prometheus" if server is not None and server.origin == "prometheus" else "metrics"
    every = f", every {duration(status.interval)}" if status is not None and status.interval else ""
    scope = f"{origin} of {reached} of {many(expected, 'replica')}{every}"
    if not live.covered(rows.WINDOW):
        return [scope]
    rates = f"{scope}; rates over the {span_text(live)}"
    return [f"{rates}, all clients together; ? not reported", f"{rates}; ? not reported", rates, scope]


# Details of a row.
def note_detail(text: str, _live: LiveState, _row: object, _width: int) -> list[Content]:
    """Return a sentence about a table, the same for each of its rows."""
    return [_note(text)]


def finding_detail(_live: LiveState, finding: Finding, width: int) -> list[Content]:
    rendered = [line(SEVERITY[finding.severity], (f"  {finding.subject}: {finding.text}", STRONG))]
    return [*rendered, *wrapped(finding.advice, width, "$foreground"), _note(f"metric  {finding.metric}")]


def route_detail(live: LiveState, row: ResourceRoutes, width: int) -> list[Content]:
    """Return what happened to a resource's LISTs in the window, in words, and the findings on it."""
    if isinstance(row, ChecksRow):
        texts = checks_text(row), saving_text(row)
        return [
            *(part for text in texts for part in wrapped(text, width, "$foreground")),
            _note("metric  apiserver_storage_consistency_checks_total; no part of clients' LISTs"),
        ]
    waited = f"; waited {long_milliseconds(row.wait_ms)} on average" if row.wait_ms is not None else ""
    rendered = _pairs(
        row,
        ("cache", "{cache.lists} LISTs ({indexed_lists} by an index) read {cache.fetched} objects, "
                  "returned {cache.returned}"),
        ("etcd", "{etcd.lists} LISTs read {etcd.fetched} objects, returned {etcd.returned}; "
                 "{probes} revision probes"),
        ("consistent", "{success} answered by the cache, {consistent_fallback} fell back to etcd{waited}"),
        ("answers", "{lists} in {seconds!d}{each}"),
        ("stored", "{kept}"),
        ("watches", "{watches} open, kube-apiserver's own included"),
        waited=waited, each=_each(row), kept=_kept(row),
    )  # fmt: skip
    for finding in [item for item in findings(live, rows.WINDOW) if item.subject == row.resource]:
        rendered.append(line(SEVERITY[finding.severity], (f"  {finding.text}", "$foreground")))
        rendered += wrapped(finding.advice, width, MUTED, indent="  ")
    return [*rendered, _note("unknown here: which client, resourceVersion, limit, selectors — ktui audit")]


def _each(routes: ResourceRoutes) -> str:
    size = f", {long_bytes(routes.mean_bytes)} each" if routes.mean_bytes is not None else ""
    time = f", {long_milliseconds(routes.list_ms)} each" if routes.list_ms is not None else ""
    factor = routes.amplification
    return size + time + (f", {times(factor)} as many objects read as returned" if factor is not None else "")


def _kept(routes: ResourceRoutes) -> str:
    if routes.objects is None:
        return "not reported"
    size = f", about {long_bytes(routes.size_bytes)}" if routes.size_bytes is not None else ""
    return _filled("{objects} objects", routes) + size


def requests_detail(live: LiveState, row: ResourceRoutes, _width: int) -> list[Content]:
    return _pairs(
        row,
        ("resource", "{resource}, {span}"),
        ("reads", "{gets} GETs ({get_errors} failed), {lists} LISTs, {watch_requests} WATCHes ended"),
        ("writes", "{creates} creates, {updates} updates, {patches} patches, {deletes} deletes"),
        ("etcd", "{etcd_gets} gets: GETs without resourceVersion, probes, writes"),
        ("timeouts", "{terminated_requests} ended by the server, {aborted} given up"),
        span=span_text(live),
    )


def admission_detail(live: LiveState, row: AdmissionRow, _width: int) -> list[Content]:
    calls = "{calls} in the {span}, {ms!t} each, {rejected} rejected the request"
    return [
        *_pairs(row, (row.kind, "{name}"), ("calls", calls), span=span_text(live)),
        _note("a write waits for all webhooks that match it, and holds its seats meanwhile"),
    ]


def running_detail(_live: LiveState, row: rows.RunningLine, _width: int) -> list[Content]:
    request = row.request
    how = "waits for its seats" if request.queued else f"holds {many(request.seats, 'seat')}"
    return [
        line((f"{request.verb.upper()} ", STRONG), (request.path, STRONG)),
        *_pairs(
            request,
            ("user", "{user}"),
            ("level", "{level} by flow schema {schema}"),
            ("state", "{how}, {age!d} since it arrived, at replica {replica}"),
            how=how, age=row.age, replica=row.replica,
        ),
        _note("from a dump: a sample of this moment, without query parameters"),
    ]  # fmt: skip


def cache_detail(_live: LiveState, row: rows.CacheAt, _width: int) -> list[Content]:
    behind = "not reported before 1.31" if row.behind is None else many(row.behind, "revision")
    probe = f"{key_of('live.probe')} asks how far it is behind etcd"
    if row.probe is not None:
        probe = f"{integer(row.lag or 0)} revisions behind etcd, by two reads in {row.probe.ms:.0f} ms"
    return _pairs(
        row.routes,
        ("cache", "{resource} at replica {at.replica}"),
        ("behind", "{behind} (the newest of the replicas, each at its last scrape)"),
        ("probe", "{probe}"),
        ("LISTs", "{cache.lists} served, {waits} waited for it"),
        ("events", "{cache_events} from etcd in {seconds!d}"),
        ("buffer", "{at.capacity} events, enlarged {capacity_increases} times"),
        ("checks", "{checks_ok} agreed with etcd, {checks_failed} differed, {checks_errored} ended with an "
                   "error"),
        at=row, behind=behind, probe=probe,
    )  # fmt: skip


def schema_detail(_live: LiveState, row: rows.SchemaLine, _width: int) -> list[Content]:
    schema = row.schema
    flows = f", flows by {schema.distinguisher.removeprefix('By').lower()}" if schema.distinguisher else ""
    head = line((schema.name, STRONG), (f" → {schema.level}{flows}", "$foreground"))
    return [head, *(_note(f"  {subject}") for subject in schema.subjects)]


def _configured(config: LevelConfig) -> str:
    """Return what the level's PriorityLevelConfiguration sets."""
    words = [config.type.lower()]
    if config.shares:
        words.append(f"{many(config.shares, 'share')}")
    if config.queues:
        words.append(f"{many(config.queues, 'queue')} of {config.queue_length}, hands of {config.hand_size}")
    elif config.response:
        words.append("rejects at once when full" if config.response == "Reject" else config.response)
    if config.lendable:
        words.append(f"lends {config.lendable} %")
    return ", ".join(filter(None, words))


def level_detail(live: LiveState, row: LevelRow, _width: int) -> list[Content]:
    """Return a level's seats and configuration, and the requests in it."""
    reasons = ", ".join(f"{name.replace('_', ' ')} {integer(round(n))}" for name, n in row.reasons.items())
    rendered = _pairs(
        row,
        ("seats", "{nominal} nominal, {current} after borrowing, {executing_seats} held"),
        ("rejected", "{rejected} in {seconds!d}" + (": {why}" if reasons else "")),
        why=reasons,
    )  # fmt: skip
    configured = live.flow.levels if live.flow is not None else ()
    rendered += [_pair("configured", _configured(item)) for item in configured if item.name == row.level][:1]
    requests = [item for item in rows.running(live) if item.request.level == row.level]
    if not requests:
        rendered.append(_note("no request of it in the newest sample"))
    for item in requests:
        request = item.request
        mark = ("◐ ", "bold $warning") if request.queued else ("● ", "$success")
        rendered.append(
            line(mark, (f"{duration(item.age):>6} {many(request.seats, 'seat'):>8}  ", MUTED),
                 (request.user, STRONG), (f"  {request.verb.upper()} {request.path}", "$foreground"))
        )  # fmt: skip
    return rendered


def replicas_detail(live: LiveState, _row: object, _width: int) -> list[Content]:
    """Return a line for each replica, and how many were never reached."""
    lines, rendered = rows.replicas(live), []
    for row in lines:
        scrape, down = row.row.scrape, row.row.down
        mark = ("● ", "$success") if row.present else ("○ ", "bold $warning")
        memory = f", {long_bytes(scrape.memory_bytes)}" if scrape.memory_bytes is not None else ""
        state = f"{'up' if row.present else 'was up'} {duration(row.uptime)}"
        rendered.append(
            line(mark, (f"replica {row.name}", STRONG),
                 (f"  {scrape.version or '?'}, {state}{memory}", "$foreground"))
        )  # fmt: skip
        if down is not None or not row.present:
            why = f"down: {down.reason}" if down is not None else "not scraped any more"
            rendered.append(line((f"  {why}", "$warning")))
        elif trend := _trend(row.growth):
            rendered.append(_note(f"  {trend}"))
    expected = (live.server.expected if live.server is not None else 0) or 0
    missing = expected - sum(row.present or row.row.down is not None for row in lines)
    if missing > 0:
        never = f"○ {many(missing, 'replica')} of the Leases never reached"
        rendered.append(line((never, "bold $warning")))
    return rendered or [_note("none scraped yet")]


def _trend(growth: ProcessGrowth) -> str:
    """Return the trend of memory and CPU: `memory +12 MB in 1m, CPU 0.35 cores`; "" if not known."""
    memory = cores = ""
    if growth.grown is not None:
        sign = "+" if growth.grown >= 0 else "−"
        memory = f"memory {sign}{long_bytes(abs(growth.grown))} in {duration(growth.seconds)}"
    if growth.cores is not None:
        cores = f"CPU {growth.cores:.2f} cores"
    return ", ".join(filter(None, (memory, cores)))


def etcd_detail(live: LiveState, row: ResourceRoutes | None, _width: int) -> list[Content]:
    sizes = [r.scrape.storage_bytes for r in live.present if r.scrape.storage_bytes is not None]
    rendered = [_pair("database", long_bytes(max(sizes)) if sizes else "? not reported")]
    if row is not None:
        rendered += _pairs(
            row,
            ("resource", "{resource}"),
            ("calls", "{etcd_timed} in {seconds!d}, {etcd_ms!t} each: {etcd_gets} get, "
                      "{etcd_lists} list, {etcd_writes} writes, {etcd_errors} failed"),
            ("LISTs", "{etcd.lists} read {etcd.fetched} objects"),
        )  # fmt: skip
    unknown = "unknown here: bytes read, fsync, leader, quota: those only etcd itself reports"
    return [*rendered, _note(unknown)]


def watch_detail(_live: LiveState, row: ResourceRoutes, _width: int) -> list[Content]:
    sent, ms = row.per_second(row.watch_events), row.watch_list_ms
    return [
        *_pairs(
            row,
            ("resource", "{resource}"),
            ("open", "{watches}, kube-apiserver's own included"),
            ("sent", "{watch_events} events in {seconds!d}{speed}"),
            ("initial", "{init_events} events to new WATCHes; {watch_lists} WatchLists{after}"),
            ("cut off", "{terminated_watchers} because the client read too slowly"),
            speed=f" ({frequency(sent)})" if sent else "",
            after=f", live after {long_milliseconds(ms)} on average" if ms is not None else "",
        ),
        _note("unknown here: which clients watch, and from which resourceVersion"),
    ]
