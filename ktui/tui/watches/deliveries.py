"""How one event was delivered to its watchers, and what other versions would have encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from ktui.contract.events import FanOut
from ktui.core.format import clock_time, integer, many, within
from ktui.kube.fanout import DELETED_HISTORY, ERAS, ChangeRecipients, DeletedObject, fan_out
from ktui.kube.versions import behaviour_of
from ktui.tui.charts.bars import bar, share_of
from ktui.tui.widgets.lines import between, line, lines, longest_that_fits, pad, wrapped

CHANGES = {"ADDED": "$success", "MODIFIED": "$foreground", "DELETED": "$error"}
_VERSION, _NUMBER, _NOTE = 13, 5, 27  # cells
_WIDEST_BAR = 40
_FOOT = ("ktui copies nothing: watchers get the stored bytes", "other versions: predicted by their rules")
_OLD = ", ".join(
    name for era in DELETED_HISTORY if era.carries is DeletedObject.OLD_RV for name in era.releases
)
OLD_RELEASES = (
    f"{_OLD} sent it at the RV that it was stored at: an informer that resumed there saw old events"
)
_Runs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Maker:
    """A line of the comparison: a server and how often it copied and encoded the event; None: not counted."""

    name: str
    copies: int | None
    encodings: int
    note: str
    ours: bool = False


def audience_of(event: FanOut) -> ChangeRecipients:
    """Return the event's recipients in the terms of the rules."""
    return ChangeRecipients(
        change=event.change,
        concerned=event.concerned,
        plain=event.delivered - event.leaving - event.tables,
        tables=event.tables,
        leaving=event.leaving,
        plain_forms=event.plain_forms,
        table_forms=event.table_forms,
    )


def makers_of(event: FanOut) -> list[Maker]:
    """Return what this server encoded, then what the rules of each era would have."""
    audience = audience_of(event)
    makers = [Maker("ktui", None, event.encodings, "measured", ours=True)]
    for first, last in ERAS:
        behaviour = behaviour_of(f"1.{last}")
        made = fan_out(audience, behaviour)
        name = f"1.{first}" if first == last else f"1.{first} – 1.{last}"
        note = "shared" if made.wrapped else "unshared"
        note += f", {made.links} selfLink{'s' if made.links != 1 else ''}" if made.links else ""
        makers.append(Maker(name, made.copies, made.encodings, note))
    return makers


def fan_out_content(
    event: FanOut | None, earlier: Sequence[FanOut], resource: str, width: int, height: int
) -> Content:
    """Return the event, its recipients and the comparison; below, earlier events if the height allows."""
    if event is None:
        what = f"of {resource} " if resource else ""
        return lines(wrapped(f"no event {what}yet: the next one shows its fan-out here", width, "$ink-muted"))
    rows = [_event(event, width), _audience(event, width), *_comparison(makers_of(event), width)]
    if height > len(rows) + len(_FOOT):
        rows.insert(2, line(""))
        rows.append(line(""))
    rows += [line((text, "$ink-muted")) for text in _FOOT]
    return lines([*rows[:height], *_before(earlier, width, height - len(rows))])


def _before(earlier: Sequence[FanOut], width: int, height: int) -> list[Content]:
    """Return the earlier sampled events that fit, newest first."""
    if height < 3 or not earlier:
        return []
    newest_first = list(reversed(earlier))[: height - 2]
    rv = max(len(integer(event.rv)) for event in newest_first)
    title, audience = "earlier events, sampled", "watching → matched → delivered"
    head = between(line((title, "$ink-muted")), line((audience, "$ink-muted")), width)
    return [line(""), head, *(_sample(event, rv, width) for event in newest_first)]


def _name(event: FanOut) -> str:
    return f"{event.namespace}/{event.name}" if event.namespace else event.name


def _sample(event: FanOut, rv: int, width: int) -> Content:
    """Return `16:40:39 7,960 MODIFIED media/web-5twkf    4 → 3 → 2`, if need be without the time."""
    audience = line(
        (f"{integer(event.watchers)} → {integer(event.concerned)} → ", "$ink-muted"),
        (integer(event.delivered), "$foreground"),
    )
    change: _Runs = [
        (f"{integer(event.rv):>{rv}} ", "$rv-cache"),
        (f"{event.change:<8} ", CHANGES.get(event.change, "$foreground")),
        (_name(event), "$foreground"),
    ]
    room = max(1, width - audience.cell_length - 2)
    whole = line((f"{clock_time(event.at)} ", "$ink-faint"), *change)
    return between(longest_that_fits([whole, line(*change)], room), audience, width)


def _event(event: FanOut, width: int) -> Content:
    runs: _Runs = [
        (event.change, f"bold {CHANGES.get(event.change, '$foreground')}"),
        (f" {_name(event)}", "$ink-strong"),
    ]
    rv: _Runs = [("  RV ", "$ink-muted"), (integer(event.rv), "bold $rv-cache")]
    at: _Runs = [(f"  {clock_time(event.at)}", "$ink-muted")]
    return longest_that_fits([line(*runs, *rv, *at), line(*runs, *rv), line(*runs)], width)


def _audience(event: FanOut, width: int) -> Content:
    arrow = (" → ", "$ink-faint")
    steps: _Runs = [
        (f"{integer(event.watchers)} watching", "$ink-muted"),
        arrow,
        (f"{integer(event.concerned)} matched", "$ink-muted"),
        arrow,
        (f"{integer(event.delivered)} delivered", "bold $ink-strong"),
    ]
    extra = [f"{event.tables} as Table"] if event.tables else []
    extra += [f"{event.leaving} left"] if event.leaving else []
    aside = (f" ({', '.join(extra)})" if extra else "", "$ink-muted")
    return longest_that_fits([line(*steps, aside), line(*steps)], width)


def _comparison(makers: list[Maker], width: int) -> list[Content]:
    """Return a heading, and a line for each of `makers` with bars of what it copied and encoded."""
    room = max(4, min(_WIDEST_BAR, (width - _VERSION - 2 * _NUMBER - _NOTE) // 2))
    most = max(*(item.copies or 0 for item in makers), *(item.encodings for item in makers))

    def measure(count: int | None, style: str, ink: str) -> _Runs:
        text = "none" if count is None else within(count, _NUMBER)
        filled = pad(bar(share_of(count or 0, most), room), room)
        return [(pad(text, _NUMBER), style), (" ", ""), (filled, ink)]

    titles = pad("copies", room + _NUMBER + 1), pad("encodings", room + _NUMBER + 1)
    rows = [line(pad("", _VERSION), (titles[0], "$ink-muted"), "  ", (titles[1], "$ink-muted"))]
    for maker in makers:
        style, ink = ("bold $route-cache", "$route-cache") if maker.ours else ("$foreground", "$primary")
        copied, encoded = measure(maker.copies, style, "$warning"), measure(maker.encodings, style, ink)
        name, note = (pad(maker.name, _VERSION), style), (f"  {maker.note}", "$ink-muted")
        rows.append(line(name, *copied, "  ", *encoded, note))
    return rows


def deleted_content(event: FanOut | None, width: int, height: int) -> Content:
    """Return what the newest DELETED event carried, and then how that was in old releases."""
    if event is None:
        rows = [line(("no object was deleted yet", "$ink-muted"))]
    else:
        behind = max(0, event.rv - event.previous_rv)
        rows = [
            line(("DELETED ", "bold $error"), (_name(event), "$ink-strong")),
            line(("the object before, at RV ", "$ink-muted"), (integer(event.rv), "bold $rv-cache")),
            line(("  the revision of the deletion", "$ink-muted")),
            line(
                ("it was stored at ", "$ink-muted"),
                (integer(event.previous_rv), "$foreground"),
                (f", {many(behind, 'revision')} before", "$ink-muted"),
            ),
        ]
    history = wrapped(OLD_RELEASES, width, "$ink-faint")
    if len(rows) + 1 + len(history) <= height:
        rows += [line(""), *history]
    return lines(rows[:height])
