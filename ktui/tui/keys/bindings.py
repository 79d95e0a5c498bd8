"""All key bindings in one table, for the footer, the help, the palette, hints and keymaps.

Each binding has an id, which a keymap refers to, and a tooltip, which the help shows. A widget or
screen takes one list as its BINDINGS; SCOPES and DIALOGS name all lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.binding import Binding, BindingType

from ktui.tui.navigation.modes import FLOW, MODES

Bindings = list[BindingType]


def _key(id_: str, keys: str, action: str, label: str, tooltip: str, **more: Any) -> Binding:
    """A binding that the footer shows."""
    return Binding(keys, action, label, id=id_, tooltip=tooltip, **more)


def _hidden(id_: str, keys: str, action: str, tooltip: str, label: str = "", **more: Any) -> Binding:
    """A binding that only the help shows."""
    return Binding(keys, action, label, show=False, id=id_, tooltip=tooltip, **more)


def _replay(
    what: str, keys: str, action: str, tooltip: str, display: str | None = None, label: str = ""
) -> Binding:
    """Return a replay key; with `label` the footer shows it, also for the other direction's key."""
    make = _key if label else _hidden
    more = {"label": label or what, "tooltip": tooltip}
    return make(f"replay.{what}", keys, f"replay_{action}", **more, key_display=display)


RECORDING: Bindings = [
    _hidden("record", "R", "record", "start or stop recording to a file", "record"),
    _hidden("marker", "m", "marker", "add a marker to the recording", "marker"),
]

# Active only in a replay.
REPLAY: Bindings = [
    _replay("back", "comma", "seek(-5)", "5 s back in the recording, or forward", ",.", "seek"),
    _replay("forward", "full_stop", "seek(5)", "5 s forward in the recording", "."),
    _replay("far_back", "shift+left", "seek(-60)", "a minute back in the recording"),
    _replay("far_forward", "shift+right", "seek(60)", "a minute forward in the recording"),
    _replay("start", "shift+home", "start", "start of the recording"),
    _replay("end", "shift+end", "end", "end of the recording"),
    _replay(
        "event_back", "left_curly_bracket", "step(-1)", "pause, one event back, or forward", "{}", "step"
    ),
    _replay("event_forward", "right_curly_bracket", "step(1)", "pause, one event forward", "}"),
    _replay("slower", "less_than_sign,minus", "slower", "half the speed, or twice", "<>", "speed"),
    _replay("faster", "greater_than_sign,plus", "faster", "twice the speed, up to max", ">"),
    _replay("mark_forward", "n", "mark(1)", "next marker"),
    _replay("mark_back", "N", "mark(-1)", "previous marker"),
]

APP: Bindings = [
    *(_key(f"go.{mode.name}", str(mode.number), f"go('{mode.name}')", mode.title, mode.about)
      for mode in MODES),
    # With priority, so that the keys typed next go to the line that these open.
    _key("filter", "slash", "screen.filter", "filter", "filter the table by column", priority=True),
    _key("command", "colon", "command", "go",
         "go to a screen, resource, key, revision or request; run a command", priority=True),
    _hidden("pause", "space", "pause", "pause the tables", "pause"),
    _hidden("sort", "s", "screen.sort", "sort by one or two columns", "sort"),
    _hidden("sort.turn", "S", "screen.sort_turn", "reverse the sort", "reverse sort"),
    _hidden("writes", "w", "writes", "show or hide writes in the log", "writes"),
    _hidden("object", "y", "screen.show_object", "show the selected row as JSON", "object"),
    _hidden("body", "B", "screen.show_body", "the response body of the selected read", "body"),
    _hidden("export", "e", "screen.export", "write all rows to a CSV file", "export"),
    _hidden("export.json", "E", "screen.export('json')", "write all rows to a JSON file"),
    _hidden("copy", "c", "screen.copy", "copy; again: other forms, raw values"),
    _hidden("zoom", "Z", "screen.zoom", "the focused panel alone, or all again", "zoom"),
    _hidden("columns", "C", "screen.columns", "choose the columns of the table"),
    _hidden("follow", "F", "screen.follow", "stop or resume following new rows"),
    _hidden("elsewhere", "o", "screen.elsewhere",
            "open related: request, cache, key, watcher, Lab, Versions", "open"),
    _hidden("back", "left_square_bracket", "go_back", "back", "back"),
    _hidden("forward", "right_square_bracket", "go_forward", "forward", "forward"),
    _hidden("restart", "r", "restart", "restart a server that has stopped", "restart"),
    _hidden("story.next", "f9", "story_next", "a tour in two minutes: what LISTs cost; next step", "tour"),
    _hidden("story.dismiss", "shift+f9", "story_dismiss", "do not offer the tour"),
    _hidden("rules", "V", "rules", "switch the server's Kubernetes version", "version"),
    *RECORDING,
    *REPLAY,
    _hidden("theme", "T", "next_theme", "next theme", "theme"),
    _hidden("suspend", "ctrl+z", "suspend_process", "suspend ktui; fg in the shell resumes it", "suspend"),
    _hidden("interrupt", "ctrl+c", "interrupt", "leave ktui from anywhere", "quit", priority=True),
    _key("help", "question_mark", "help", "help", "these keys"),
    _key("quit", "q", "quit", "quit", "leave ktui"),
]  # fmt: skip


def _with_flow_control() -> Bindings:
    """Return the app's keys over a live cluster, where 7 opens Flow control."""
    flow = _key(f"go.{FLOW.name}", str(FLOW.number), f"go('{FLOW.name}')", FLOW.title, FLOW.about)
    keys = [flow if isinstance(key, Binding) and key.key == flow.key else key for key in APP]
    return [*keys, *AFTER_A_JUMP]


# Has priority over the same key of screens and tables right after a jump, and is inactive at other times.
AFTER_A_JUMP: Bindings = [
    _hidden("come_back", "escape", "come_back", "back to where the jump started", "back", priority=True),
]

TABLE: Bindings = [
    _hidden("table.up", "up,k", "cursor(-1)", "one row up", "Up"),
    _hidden("table.down", "down,j", "cursor(1)", "one row down", "Down"),
    _hidden("table.pageup", "pageup", "page(-1)", "one page up", "Page up"),
    _hidden("table.pagedown", "pagedown", "page(1)", "one page down", "Page down"),
    _hidden("table.first", "home,g", "first", "first row", "First"),
    _hidden("table.last", "end,G", "last", "last row; a live table follows", "Last"),
    _hidden("table.open", "enter", "select", "open", "Open"),
    _hidden("table.clear", "escape", "clear_filter", "clear the filter", "clear"),
]

TREE: Bindings = [
    _hidden("tree.close", "left,h", "fold", "close the branch", "Close"),
    _hidden("tree.open", "right,l", "unfold", "open the branch", "Open"),
]

LINES: Bindings = [
    _hidden("lines.up", "up,k", "scroll_up", "one line up", "Up"),
    _hidden("lines.down", "down,j", "scroll_down", "one line down", "Down"),
    _hidden("lines.top", "home,g", "scroll_home", "first line", "Top"),
    _hidden("lines.end", "end,G", "scroll_end", "last line", "End"),
    _hidden("lines.next", "n", "next_match(1)", "next line that contains what was searched for (/)", "next"),
    _hidden("lines.previous", "N", "next_match(-1)", "the match before", "previous"),
]

DETAIL: Bindings = [
    _hidden("detail.previous", "left", "panel(-1)", "previous panel of the detail", "Panel"),
    _hidden("detail.next", "right", "panel(1)", "next panel of the detail", "Panel"),
]

PROMPT: Bindings = [
    _hidden("prompt.close", "escape", "dismiss", "close the line", "close"),
    _hidden("prompt.complete", "tab", "complete(1)", "complete the word", "complete"),
    _hidden("prompt.previous", "shift+tab", "complete(-1)", "previous suggestion", "previous"),
    _hidden("prompt.older", "up", "browse(-1)", "earlier lines", "older"),
    _hidden("prompt.newer", "down", "browse(1)", "later lines", "newer"),
    _hidden("prompt.help", "f1", "explain", "help on the syntax (? too)", "help"),
]

OVERVIEW: Bindings = [
    _key("overview.compare", "a", "try_cheaper", "cheaper",
         "compare one of the most expensive reads with a cheaper variant"),
    _hidden("overview.ranking", "t", "most_expensive", "rank all reads by cost", "most expensive"),
    _hidden("overview.read", "x", "read_stored",
            "over what is stored: read all values, or watch what changes; again: stop", "read"),
    _key("overview.view", "v", "turn_view", "view", "what is stored in etcd, or the requests"),
]  # fmt: skip

REQUESTS: Bindings = [
    _hidden("requests.view", "t", "turn_view", "most expensive requests, or the log", "view"),
    _key("requests.try", "a", "try_cheaper", "cheaper", "compare it with a cheaper variant, in the Lab"),
    _hidden("requests.rollup", "b", "roll_up", "the ranking by client, resource, namespace", "by"),
    _key("requests.leave", "escape", "leave", "back",
         "from one kind of request to the ranking, then to the log"),
    *DETAIL,
]  # fmt: skip

CACHE: Bindings = [
    _hidden("cache.compare", "a", "try_cheaper",
            "compare a read of this resource with a cheaper variant", "cheaper"),
    _key("cache.warm", "w", "warm", "warm", "fill the cache under the cursor"),
    _key("cache.cancel", "x", "cancel", "cancel", "stop filling the cache under the cursor"),
    _hidden("cache.check", "equals_sign", "check",
            "compare the cache under the cursor with etcd now, at its resourceVersion"),
    _hidden("cache.lose", "X", "lose",
            "make the cache lose an object: the next consistency check finds it (embedded etcd only)"),
    _key("cache.leave", "escape", "leave", "back", "back to all caches"),
]  # fmt: skip

ETCD: Bindings = [
    _hidden("etcd.open", "right,l", "open", "open the prefix", "open"),
    _hidden("etcd.close", "left,h", "close", "close the prefix", "close"),
    _key("etcd.view", "v", "turn_view", "view", "YAML, JSON, stored bytes, sizes by field"),
    _key("etcd.past", "p", "past", "history", "revisions of the key, and what changed"),
    _key("etcd.mark", "m", "mark", "mark", "compare with the revision under the cursor"),
    _key("etcd.all", "a", "all_of_etcd", "all", "all of etcd, or Kubernetes' prefix only"),
    _key("etcd.reveal", "R", "reveal", "reveal", "show a Secret's values"),
    _key("etcd.again", "u", "read_again", "refresh", "read all of it again from etcd"),
    _hidden("etcd.leave", "escape", "leave", "previous pane", "back"),
]

LAB: Bindings = [
    _key("lab.send", "f", "send", "send", "send the LIST (enter in the form)"),
    _key("lab.compare", "r", "compare", "compare", "send all variants and compare them"),
    _key("lab.cheaper", "a", "try_cheaper", "cheaper", "compare with the next cheaper variant"),
    _key("lab.page", "n", "next_page", "page", "next page (continue token)"),
    _hidden("lab.check", "equals_sign", "check_consistency",
            "compare the cache with etcd at its exact resourceVersion", "= etcd"),
    _key("lab.target", "t", "choose_target", "server", "send to ktui's own server or to one of a kubeconfig"),
    _hidden("lab.pages", "y", "show_pages", "the full result; as curl, kubectl, client-go, Python", "as…"),
    _hidden("lab.saved", "l", "saved", "saved requests: edit, send, save, delete", "saved"),
    # With priority: acts before the focused widget receives the keys that follow.
    _hidden("lab.edit", "i", "edit", "go to the form", "edit", priority=True),
    _key("lab.stop", "x", "stop", "stop", "stop the running requests"),
    _hidden("lab.clear", "X", "clear", "delete the results, on disk too", "clear"),
    _key("lab.leave", "escape", "leave", "results", "from the form to the results"),
]  # fmt: skip

WORKLOADS: Bindings = [
    _key("workloads.start", "x", "start_or_stop", "start/stop", "start the workload, or stop it (enter)"),
    _key("workloads.less", "left", "turn(-1)", "knob", "a knob's value down, or its choice before",
         key_display="←→"),
    _hidden("workloads.more", "right", "turn(1)", "a knob's value up, or its next choice", "knob"),
    _key("workloads.compare", "a", "compare", "compare",
         "run these knobs and the last run's (or the defaults) in turn, and show the difference"),
    _key("workloads.faults", "f", "faults", "faults",
         "inject a fault into an etcd that ktui started: a menu, which asks before what breaks it"),
    _key("workloads.results", "t", "results", "results", "two runs compared, and their tables"),
    _key("workloads.edit", "i", "edit", "value", "type a value for the knob (enter)"),
    *(_hidden(f"workloads.fix{place + 1}", key, f"fix({place})", f"fix {place + 1} of the workload", "fix")
      for place, key in enumerate(("f4", "f5", "f6", "f7", "f8", "f10", "f11", "f12"))),
]  # fmt: skip

FORM: Bindings = [
    _hidden("form.up", "up", "move(-1)", "the field above", "Field above"),
    _hidden("form.down", "down", "move(1)", "the field below", "Field below"),
]

TEXT_FIELD: Bindings = [
    _key("form.send", "enter", "submit", "send", "send the request in the form"),
]

CHOICE_FIELD: Bindings = [
    _key("choice.back", "left", "turn(-1)", "choose", "previous choice", key_display="←→"),
    _hidden("choice.next", "right", "turn(1)", "next choice", "Next choice"),
    _key("choice.send", "enter", "submit", "send", "send the request in the form"),
]

VERSIONS: Bindings = [
    _key("versions.edit", "i", "edit", "request", "edit the request"),
    _key("versions.leave", "escape", "leave", "all", "back to all versions"),
]

AUDIT: Bindings = [
    *DETAIL,
    _key("audit.versions", "v", "view('versions')", "versions", "all versions compared"),
    _key("audit.slow", "t", "view('slow')", "slow etcd", "slow requests in etcd's log"),
    _key("audit.read", "i", "show_input", "input", "files, malformed lines, notes"),
    _key("audit.rules", "V", "choose_rules", "rules", "choose the version and its gates"),
    _hidden("audit.older", "less_than_sign", "step_version(-1)", "previous version", "older"),
    _hidden("audit.newer", "greater_than_sign", "step_version(1)", "next version", "newer"),
    _key("audit.stop", "x", "stop", "stop reading", "stop reading and show what was read so far"),
    _hidden("audit.up", "up,k", "step(-1)", "previous group", "previous"),
    _hidden("audit.down", "down,j", "step(1)", "next group", "next"),
    _key("audit.leave", "escape", "leave", "back", "back to the groups"),
]  # fmt: skip

CLOSE_TEXT: Bindings = [
    _key("text.close", "escape,y,q", "leave", "close", "close, or end the search"),
    _key("text.search", "slash", "search", "search", "search the text"),
    _key("text.copy", "c", "copy", "copy", "copy the whole text to the clipboard"),
]
BODY: Bindings = [
    _key("body.more", "m", "more", "more", "the next 64 kB"),
    _key("body.view", "v", "turn_view", "view", "as YAML, or as JSON: sent again"),
    *CLOSE_TEXT,
]
CLOSE_FILTER_HELP: Bindings = [
    _key("filter.help.close", "escape,q,f1,question_mark", "dismiss", "close", "close"),
]

HELP: Bindings = [
    _key("help.leave", "escape", "leave", "close", "close"),
    _key("help.close", "q,question_mark", "dismiss", "close", "close"),
    _key("help.filter", "slash", "narrow", "filter", "find a key"),
    _key("help.down", "down,j", "scroll(1)", "down", "a line down"),
    _key("help.up", "up,k", "scroll(-1)", "up", "a line up"),
    _key("help.pagedown", "pagedown,space", "page(1)", "page down", "a page down"),
    _key("help.pageup", "pageup", "page(-1)", "page up", "a page up"),
]

COLUMNS: Bindings = [
    _key("columns.toggle", "space", "turn", "show", "show or hide the column"),
    _key("columns.up", "K,shift+up", "move(-1)", "up", "move it left"),
    _key("columns.down", "J,shift+down", "move(1)", "down", "move it right"),
    _key("columns.reset", "r", "reset", "reset", "reset to the default columns"),
    _key("columns.close", "escape,q", "close", "close", "close and keep the choice"),
]

SORT: Bindings = [
    _key("sort.close", "escape,q", "dismiss", "close", "keep the order"),
    _key("sort.none", "full_stop", "unsort", "unsort", "no order"),
]

RULES: Bindings = [
    _key("rules.close", "escape,q", "dismiss", "close", "keep the version"),
    _key("rules.turn", "space", "turn", "toggle gate", "turn a gate on or off"),
    _key("rules.other", "left,right,tab", "other", "gates", "versions or gates", priority=True),
]

JUMP: Bindings = [
    _key("jump.close", "escape,q", "dismiss", "close", "close"),
    _key("jump.down", "down,j", "cursor(1)", "next", "next entry"),
    _key("jump.up", "up,k", "cursor(-1)", "previous", "previous entry"),
]

CONFIRM: Bindings = [
    _key("confirm.yes", "y", "answer(True)", "yes", "do it"),
    _key("confirm.no", "n,escape,q", "answer(False)", "no", "cancel"),
]

PAGES: Bindings = [
    _key("pages.close", "escape,q", "dismiss", "close", "close"),
    _key("pages.next", "y,right,tab", "turn(1)", "next", "next form"),
    _key("pages.previous", "left,shift+tab", "turn(-1)", "previous", "previous form"),
    _key("pages.copy", "c", "copy", "copy", "copy this form to the clipboard"),
]

COMPARE: Bindings = [_key("compare.close", "escape,q", "dismiss(None)", "close", "compare nothing")]

SAVED: Bindings = [
    _key("saved.send", "f", "send", "send", "put it into the form, and send it"),
    _key("saved.save", "s", "save", "save", "save the request in the form under a name"),
    _key("saved.delete", "x,delete", "delete", "delete", "delete it, after a question"),
    _key("saved.close", "escape,q", "leave", "close", "close, or back from the name"),
]

TARGET: Bindings = [_key("target.close", "escape,q", "dismiss(None)", "close", "no change")]

LIVE: Bindings = [
    _key("live.tab", "t", "turn_tab", "view", "the next table of the screen"),
    _hidden("live.refresh", "u", "refresh_figures", "scrape or query now", "refresh"),
]
LIVE_CACHES: Bindings = [
    *LIVE,
    _key("live.probe", "p", "probe", "probe", "ask each replica how far this cache is behind etcd"),
]
LIVE_VERSIONS: Bindings = [*VERSIONS, *LIVE]
LIVE_APP: Bindings = _with_flow_control()

# Name of a list in messages about a keymap → the list.
SCOPES: Mapping[str, Bindings] = {
    "everywhere": [*APP, *AFTER_A_JUMP],
    "tables": TABLE,
    "prefix tree": TREE,
    "texts": LINES,
    "prompt": PROMPT,
    "overview": OVERVIEW,
    "requests": REQUESTS,
    "cache": CACHE,
    "etcd": ETCD,
    "lab": LAB,
    "lab form": FORM,
    "lab text field": TEXT_FIELD,
    "lab choice": CHOICE_FIELD,
    "watches": DETAIL,
    "workloads": WORKLOADS,
    "versions": VERSIONS,
    "live cluster": LIVE,
    "live caches": LIVE_CACHES,
    "live versions": LIVE_VERSIONS,
    "audit": AUDIT,
}
# Modal: the app's bindings do not act while one is open.
DIALOGS: Mapping[str, Bindings] = {
    "text": CLOSE_TEXT,
    "response body": BODY,
    "filter help": CLOSE_FILTER_HELP,
    "help": HELP,
    "columns": COLUMNS,
    "sort": SORT,
    "rules": RULES,
    "jump": JUMP,
    "question": CONFIRM,
    "pages": PAGES,
    "compare": COMPARE,
    "lab server": TARGET,
    "saved requests": SAVED,
}
