"""The top line: the control plane's name and versions, its revision, and the load that ktui adds."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.style import Style

from ktui.core.format import clock_time, integer, long_bytes, many, rate, short_count
from ktui.core.state import State
from ktui.tui.source import Link, Stage
from ktui.tui.widgets.banner import is_stale
from ktui.tui.widgets.lines import between, line, longest_that_fits
from ktui.tui.widgets.panel import Panel

_DOT = (" · ", "$ink-faint")
WITH_VERSIONS = 3  # how many variants of the left part, longest first, have the versions


class HeaderBar(Panel):
    """One line in which no word is cut: the least important parts are left out first."""

    DEFAULT_CSS = """
    HeaderBar { height: 1; background: $surface; padding: 0 1; dock: top; }
    """

    def show_state(
        self, state: State, link: Link, paused: bool, recording: str = "", crumbs: Sequence[str] = ()
    ) -> None:
        live, speed = state.live, rate(state.revisions_per_second)
        known = (state.server, state.head, state.revision, state.etcd_usage, state.health, state.dropped)
        scraped = (live.status, live.server, len(live.replicas))
        stamp = (*known, len(state.stale), *scraped, speed, link, paused, recording, tuple(crumbs))
        self.show(lambda width, _: header_line(state, link, paused, width, recording, crumbs), stamp)


def header_line(
    state: State, link: Link, paused: bool, width: int, recording: str = "", crumbs: Sequence[str] = ()
) -> Content:
    """Return the header for `width` cells. `recording` is the sign of a recording in progress.

    `crumbs` are the steps down to what is shown. A click on a step goes there; a click on the
    Kubernetes version opens the choice of versions.
    """
    moving = not is_stale(state, link)
    middle = _revision(state, "rev", moving=moving)
    long_middle = _revision(state, "etcd revision", moving=moving)
    who = _left_variants(state, _breadcrumbs(crumbs, width // 2), live=link.stage is not Stage.REPLAY)
    right = list(_right_variants(state, link, paused, recording))
    # In a narrow line ktui's load is left out before the versions, and the flags (stale data, lost
    # events, a pause) last.
    chances = [
        *((tail, who[:WITH_VERSIONS], middle) for tail in right[:-1]),
        *((tail, who, middle) for tail in right[-3:-1] if tail.cell_length),
        *((tail, who, middle) for tail in right),
        (right[-1], [_breadcrumbs(crumbs, width - right[-1].cell_length - 4)], Content("")),
        (Content(""), who, middle),
    ]
    for tail, forms, between_them in chances:
        rest = width - between_them.cell_length - tail.cell_length - 4
        fitting = [form for form in forms if form.cell_length <= rest]
        if fitting:
            left = rest - fitting[0].cell_length
            longer = long_middle.cell_length - middle.cell_length
            if between_them is middle and longer <= left:
                left, between_them = left - longer, long_middle
            space = " " * max(2, left // 2 + 2)
            return between(Content.assemble(fitting[0], space, between_them), tail, width)
    return longest_that_fits([*who, middle], width)


def clickable(content: Content, action: str) -> Content:
    """Return `content` with a link that runs `action` on a click."""
    return content.stylize(Style.from_meta({"@click": action}))


def _breadcrumbs(crumbs: Sequence[str], width: int) -> Content:
    """Return `ktui › Cache` or `Cache › pods › shop/web-7f9`, without its first steps if it is too long."""
    sign = (" › ", "$ink-faint")
    styles = [*["$accent"] * (len(crumbs) - 1), "bold $ink-strong"]
    named = enumerate(map(line, zip(crumbs, styles, strict=False)))
    steps = [clickable(step, f"screen.crumb({at})") for at, step in named]
    if len(steps) < 2:
        steps.insert(0, line(("ktui", "bold $accent")))
    while len(steps) > 2 and sum(step.cell_length + 3 for step in steps) > width:
        del steps[1]
    return line(sign).join(steps).truncate(max(width, 8), ellipsis=True)


def _left_variants(state: State, way: Content, *, live: bool) -> list[Content]:
    """Return the left part's variants, longest first: name and versions behind the breadcrumbs."""
    server = state.server
    if server is None:
        return [way]
    dot, called = line(_DOT), line((server.name, "$ink-strong"))
    etcd = line((f"etcd {server.etcd_version}", "$foreground"))
    gates = len(server.feature_gates)
    changed = f" ±{gates} gate{'s' if gates != 1 else ''}" if gates else ""
    kube = clickable(line((f"kube {server.kube_version}{changed}", "$foreground")), "app.rules")
    writable = line(("writable", "$foreground") if server.writable else ("read-only", "$success"))
    full = etcd + line((f" ({server.etcd_kind})", "$ink-muted"))
    found = state.live.server
    if found is not None and not server.scraped:
        full += line((f" + metrics of {_replicas(state)}", "$foreground"))
    elif found is not None:
        full = etcd = line((_replicas(state), "$foreground"))
        kube = line((f"kube-apiserver {found.version or '?'}{changed}", "$foreground"))
    head = [way, called] if server.name else [way]
    may = [writable] if live else []  # a recording is never writable
    forms: Sequence[list[Content]] = ([full, kube, *may], [etcd, kube, *may], [etcd, kube], [kube], [])
    return [*(dot.join([*head, *form]) for form in forms), way]


def _replicas(state: State) -> str:
    """Return `2/3 replicas`: those that are scraped, of those that are known."""
    live = state.live
    reached = len(live.present)
    known = max(reached, (live.server.expected if live.server is not None else 0) or 0)
    return f"{reached}/{known} replica{'' if known == 1 else 's'}"


def _revision(state: State, label: str, *, moving: bool) -> Content:
    if not state.revision:
        return Content("")
    return line(
        (f"{label} ", "$ink-muted"),
        (integer(state.revision), "bold $rv-head"),
        (f" {rate(state.revisions_per_second)}" if moving else "", "$ink-muted"),
    )


def _right_variants(state: State, link: Link, paused: bool, recording: str) -> list[Content]:
    """Return the right part's variants, longest first.

    The last three have the flags alone: in full, shortened, and as signs.
    """
    flags = _flags(state, link, paused, recording)
    shortly = _flags(state, link, paused, recording, shortly=True)
    signs = [("‖", style) if text == "paused" else (text, style) for text, style in shortly]
    short = [line("  ").join([line(flag) for flag in flags]) for flags in (shortly, signs)]
    spaced = [part for flag in flags for part in (flag, ("   ", ""))]
    usage = _usage(state)
    if usage is None or is_stale(state, link):
        return [line(*spaced[:-1]), *short]
    labels, text = usage
    cost = (text, "$foreground")
    return [
        *(line(*spaced, (label, "$ink-muted"), cost) for label in labels),
        line(*spaced[:-1]) if spaced else Content(""),
        *short,
    ]


def _usage(state: State) -> tuple[Sequence[str], str] | None:
    """Return the labels (longest first) and text of ktui's load on the server it reads; None if unknown."""
    status, usage, server = state.live.status, state.etcd_usage, state.live.server
    asked = "Prometheus" if server is not None and server.origin == "prometheus" else "the server"
    if status is None and usage is None:
        return None
    where, short = f"ktui's load on {asked} ", "ktui's load "
    if usage is not None:
        also = f" and {asked.removeprefix('the ')}" if status is not None else ""
        where = f"ktui's load on etcd{also} "
        short = short if status is not None else "load on etcd "
    counts = [many(usage.rpcs, "RPC")] if usage is not None else []
    counts += [many(status.requests, "GET")] if status is not None else []
    size = usage.sent_bytes + usage.received_bytes if usage is not None else 0
    size += status.received_bytes if status is not None else 0
    return (where, short, "load "), f"{', '.join(counts)} · {long_bytes(size)}"


def _flags(
    state: State, link: Link, paused: bool, recording: str, *, shortly: bool = False
) -> list[tuple[str, str]]:
    """Return (text, style) of what must not be overlooked: recording, pause, losses, stale data, replay."""
    flags = [(recording, "bold $error")] if recording else []
    if paused:
        flags.append(("paused" if shortly else "‖ paused", "bold $warning"))
    if state.dropped:
        lost = short_count(state.dropped) if shortly else many(state.dropped, "event")
        flags.append((f"{lost} dropped", "$warning"))
    if (stale := len(state.stale)) and not is_stale(state, link):
        flags.append((f"{stale} stale" if shortly else f"{many(stale, 'cache')} stale", "bold $warning"))
    if is_stale(state, link):
        flags.append((f"as of {clock_time(state.now)}", "bold $error"))
    if link.stage is Stage.REPLAY:
        flags.append(("replay" if shortly else f"replay {link.detail}", "$route-snapshot"))
    return flags
