"""The keys of recordings: those of a replay act only in one."""

from __future__ import annotations

from textual.binding import Binding, BindingType

RECORDING: list[BindingType] = [
    Binding("R", "record", "record", show=False, id="record", tooltip="record to a file, or end that"),
    Binding("m", "marker", "marker", show=False, id="marker", tooltip="mark this moment in the recording"),
]


def _key(keys: str, what: str, tooltip: str, display: str | None = None) -> Binding:
    return Binding(
        keys,
        f"replay('{what}')",
        what,
        key_display=display,
        show=False,
        id=f"replay.{what}",
        tooltip=tooltip,
    )


REPLAY: list[BindingType] = [
    _key("comma", "back", "5 s back in the recording", ","),
    _key("full_stop", "forward", "5 s on in the recording", "."),
    _key("shift+left", "far_back", "a minute back in the recording"),
    _key("shift+right", "far_forward", "a minute on in the recording"),
    _key("shift+home", "start", "the recording's beginning"),
    _key("shift+end", "end", "the recording's end"),
    _key("left_curly_bracket", "event_back", "hold the replay, one event back", "{"),
    _key("right_curly_bracket", "event_forward", "hold the replay, one event on", "}"),
    _key("less_than_sign,minus", "slower", "replay at half the pace", "<"),
    _key("greater_than_sign,plus", "faster", "replay at twice the pace, up to max", ">"),
    _key("n", "mark_forward", "the next mark of the recording"),
    _key("N", "mark_back", "the mark before"),
]
