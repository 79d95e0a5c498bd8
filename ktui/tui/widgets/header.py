"""The top line: whose control plane this is, its revision, and what ktui costs it."""

from __future__ import annotations

from textual.content import Content

from ktui.tui.model.format import integer, long_bytes, rate
from ktui.tui.model.state import State
from ktui.tui.source import Link, Stage
from ktui.tui.widgets.lines import between, line, longest_that_fits
from ktui.tui.widgets.panel import Panel

_DOT = (" · ", "$ink-faint")


class HeaderBar(Panel):
    """One line, never a cut word: what does not fit goes, the least telling first."""

    DEFAULT_CSS = """
    HeaderBar { height: 1; background: $surface; padding: 0 1; dock: top; }
    """

    def show_state(self, state: State, link: Link, paused: bool) -> None:
        stamp = (state.server, state.head, state.toll, state.health, state.dropped, link, paused)
        self.show(lambda width, _: header_line(state, link, paused, width), stamp)


def header_line(state: State, link: Link, paused: bool, width: int) -> Content:
    """The header for `width` cells."""
    middle = _revision(state)
    who = list(_who(state))
    right = list(_right(state, link, paused))
    for tail in (*right, Content("")):
        rest = width - middle.cell_length - tail.cell_length - 4
        fitting = [form for form in who if form.cell_length <= rest]
        if fitting:
            left = Content.assemble(
                fitting[0], " " * max(2, (rest - fitting[0].cell_length) // 2 + 2), middle
            )
            return between(left, tail, width)
    return longest_that_fits([*who, middle], width)


def _who(state: State) -> list[Content]:
    name = ("ktui", "bold $accent")
    server = state.server
    if server is None:
        return [line(name)]
    called = (server.name, "bold $ink-strong")
    etcd = (f"etcd {server.etcd_version}", "$foreground")
    gates = len(server.feature_gates)
    changed = f" ±{gates} gate{'s' if gates != 1 else ''}" if gates else ""
    kube = (f"kube {server.kube_version}{changed}", "$foreground")
    writable = ("writable", "$foreground") if server.writable else ("read-only", "$success")
    kind = (f" ({server.etcd_kind})", "$ink-muted")
    head = (name, _DOT, called) if server.name else (name,)
    return [
        line(*head, _DOT, etcd, kind, _DOT, kube, _DOT, writable),
        line(*head, _DOT, etcd, _DOT, kube, _DOT, writable),
        line(*head, _DOT, etcd, _DOT, kube),
        line(*head, _DOT, kube),
        line(*head),
        line(name),
    ]


def _revision(state: State) -> Content:
    if not state.head.revision:
        return Content("")
    return line(
        ("rev ", "$ink-muted"),
        (integer(state.head.revision), "bold $rv-head"),
        (f" {rate(state.head.per_second)}", "$ink-muted"),
    )


def _right(state: State, link: Link, paused: bool) -> list[Content]:
    flags = []
    if paused:
        flags.append(("‖ paused", "bold $warning"))
    if state.dropped:
        flags.append((f"{integer(state.dropped)} events dropped", "$warning"))
    if link.stage is Stage.REPLAY:
        flags.append((f"replay {link.detail}", "$route-snapshot"))
    spaced = [part for flag in flags for part in (flag, ("   ", ""))]
    toll = state.toll
    if toll is None:
        return [line(*spaced[:-1])]
    size = long_bytes(toll.sent_bytes + toll.received_bytes)
    label = ("our toll on etcd: ", "$ink-muted")
    cost = (f"{integer(toll.rpcs)} RPC {size}", "$foreground")
    return [
        line(*spaced, label, cost),
        line(*spaced, ("toll ", "$ink-muted"), cost),
        line(*spaced[:-1]) if spaced else Content(""),
    ]
