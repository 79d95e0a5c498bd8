"""Every key binding in one table: footer, help, palette, hints and a user's keymap read it.

Each binding has an id, by which a keymap remaps it, and a tooltip, the help's text. A widget or
screen takes its list as BINDINGS; SCOPES and DIALOGS name all lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.binding import Binding, BindingType

from ktui.tui.navigation.modes import MODES

Bindings = list[BindingType]


def _key(id_: str, keys: str, action: str, label: str, tooltip: str, **more: Any) -> Binding:
    """A binding that the footer shows."""
    return Binding(keys, action, label, id=id_, tooltip=tooltip, **more)


def _hidden(id_: str, keys: str, action: str, tooltip: str, label: str = "", **more: Any) -> Binding:
    """A binding that only the help shows."""
    return Binding(keys, action, label, show=False, id=id_, tooltip=tooltip, **more)


def _replay(what: str, keys: str, action: str, tooltip: str, display: str | None = None) -> Binding:
    return _hidden(f"replay.{what}", keys, f"replay_{action}", tooltip, what, key_display=display)


RECORDING: Bindings = [
    _hidden("record", "R", "record", "record to a file, or end that", "record"),
    _hidden("marker", "m", "marker", "mark this moment in the recording", "marker"),
]

# They act only in a replay.
REPLAY: Bindings = [
    _replay("back", "comma", "seek(-5)", "5 s back in the recording", ","),
    _replay("forward", "full_stop", "seek(5)", "5 s on in the recording", "."),
    _replay("far_back", "shift+left", "seek(-60)", "a minute back in the recording"),
    _replay("far_forward", "shift+right", "seek(60)", "a minute on in the recording"),
    _replay("start", "shift+home", "start", "the recording's beginning"),
    _replay("end", "shift+end", "end", "the recording's end"),
    _replay("event_back", "left_curly_bracket", "step(-1)", "hold the replay, one event back", "{"),
    _replay("event_forward", "right_curly_bracket", "step(1)", "hold the replay, one event on", "}"),
    _replay("slower", "less_than_sign,minus", "slower", "replay at half the pace", "<"),
    _replay("faster", "greater_than_sign,plus", "faster", "replay at twice the pace, up to max", ">"),
    _replay("mark_forward", "n", "mark(1)", "the next mark of the recording"),
    _replay("mark_back", "N", "mark(-1)", "the mark before"),
]

APP: Bindings = [
    *(_key(f"go.{mode.name}", str(mode.number), f"go('{mode.name}')", mode.title, mode.about)
      for mode in MODES),
    # With priority, so that what is typed right after them goes into the line that they open.
    _key("filter", "slash", "screen.filter", "filter", "filter the table by column", key_display="/",
         priority=True),
    _key("command", "colon", "command", "go",
         "go to a screen, a resource, a key, a revision, a request; change something",
         key_display=":", priority=True),
    _hidden("pause", "space", "pause", "hold the tables still", "pause"),
    _hidden("sort", "s", "screen.sort", "sort by a column, or by two", "sort"),
    _hidden("sort.turn", "S", "screen.sort_turn", "turn the sort round", "turn sort"),
    _hidden("writes", "w", "writes", "show writes in the log, or hide them", "writes"),
    _hidden("object", "y", "screen.show_object", "show what is selected as JSON", "object"),
    _hidden("export", "e", "screen.export", "write the table to a CSV file", "export"),
    _hidden("export.json", "E", "screen.export('json')", "write it to a JSON file"),
    _hidden("copy", "c", "screen.copy", "copy what is selected; again: the whole row"),
    _hidden("columns", "C", "screen.columns", "choose the columns of the table"),
    _hidden("follow", "F", "screen.follow", "hold this table, or follow it again"),
    _hidden("elsewhere", "o", "screen.elsewhere",
            "where the selected row leads: request, cache, key, watcher, Lab, Versions", "open"),
    _hidden("back", "left_square_bracket", "go_back", "back", "back", key_display="["),
    _hidden("forward", "right_square_bracket", "go_forward", "forth", "forward", key_display="]"),
    _hidden("restart", "r", "restart", "restart a server that has stopped", "restart"),
    _hidden("story.next", "f9", "story_next", "the next step of the story (--story)", "story"),
    _hidden("rules", "V", "rules", "switch the server's Kubernetes version", "version"),
    *RECORDING,
    *REPLAY,
    _hidden("theme", "T", "next_theme", "next theme", "theme"),
    _key("help", "question_mark", "help", "help", "these keys", key_display="?"),
    _key("quit", "q", "quit", "quit", "leave ktui"),
]  # fmt: skip

# Right after a jump it acts before what screens and tables do with that key; at other times it lets them.
AFTER_A_JUMP: Bindings = [
    _hidden("come_back", "escape", "come_back", "back to where a jump has led from", "back", priority=True),
]

TABLE: Bindings = [
    _hidden("table.up", "up,k", "cursor(-1)", "one row up", "Up"),
    _hidden("table.down", "down,j", "cursor(1)", "one row down", "Down"),
    _hidden("table.pageup", "pageup", "page(-1)", "one page up", "Page up"),
    _hidden("table.pagedown", "pagedown", "page(1)", "one page down", "Page down"),
    _hidden("table.first", "home,g", "first", "first row", "First"),
    _hidden("table.last", "end,G", "last", "last row; a live table follows", "Last"),
    _hidden("table.open", "enter", "select", "go deeper", "Open"),
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
]

DETAIL: Bindings = [
    _hidden("detail.previous", "left", "panel(-1)", "previous panel of the detail", "Panel"),
    _hidden("detail.next", "right", "panel(1)", "next panel of the detail", "Panel"),
]

PROMPT: Bindings = [
    _hidden("prompt.close", "escape", "dismiss", "close the line", "close"),
    _hidden("prompt.complete", "tab", "complete(1)", "complete the word", "complete"),
    _hidden("prompt.previous", "shift+tab", "complete(-1)", "the suggestion before", "previous"),
    _hidden("prompt.older", "up", "older", "what was typed before", "older"),
    _hidden("prompt.newer", "down", "newer", "what was typed after that", "newer"),
    _hidden("prompt.help", "f1", "explain", "what can be typed (? too)", "help"),
]

OVERVIEW: Bindings = [
    _key("overview.compare", "a", "try_cheaper", "cheaper",
         "compare one of the most expensive reads with a cheaper variant"),
    _hidden("overview.costliest", "t", "costliest", "all that reads have cost", "costliest"),
]  # fmt: skip

REQUESTS: Bindings = [
    _hidden("requests.view", "t", "turn_view", "the costliest kinds, or the log", "view"),
    _key("requests.try", "a", "try_cheaper", "cheaper", "compare it with a cheaper variant, in the Lab"),
    _key("requests.leave", "escape", "leave", "back",
         "from one kind of requests to the costliest, from there to the log"),
    *DETAIL,
]  # fmt: skip

CACHE: Bindings = [
    _hidden("cache.compare", "a", "try_cheaper",
            "compare a read of this resource with a cheaper variant", "cheaper"),
    _key("cache.warm", "w", "warm", "warm", "fill the cache under the cursor"),
    _key("cache.cancel", "x", "cancel", "cancel", "stop filling the cache under the cursor"),
    _key("cache.leave", "escape", "leave", "back", "back to all caches"),
]  # fmt: skip

ETCD: Bindings = [
    _hidden("etcd.open", "right,l", "open", "open the prefix", "open"),
    _hidden("etcd.close", "left,h", "close", "close the prefix", "close"),
    _key("etcd.view", "v", "turn_view", "view", "YAML, JSON, stored bytes, sizes by field"),
    _key("etcd.past", "p", "past", "past", "revisions of the key, and what changed"),
    _key("etcd.mark", "m", "mark", "mark", "compare with the revision under the cursor"),
    _key("etcd.all", "a", "all_of_etcd", "all", "all of etcd, or Kubernetes' prefix only"),
    _key("etcd.reveal", "R", "reveal", "reveal", "show a Secret's values"),
    _key("etcd.again", "u", "read_again", "reread", "read what is shown again"),
    _hidden("etcd.leave", "escape", "leave", "one pane back", "back"),
]

LAB: Bindings = [
    _key("lab.fire", "f", "send", "fire", "fire the LIST (enter in the form)"),
    _key("lab.race", "r", "compare", "race", "race the forms of the question"),
    _key("lab.undercut", "a", "try_cheaper", "cheaper", "compare with the next cheaper variant"),
    _key("lab.page", "n", "next_page", "page", "next page by the continue token"),
    _hidden("lab.prove", "equals_sign", "check_consistency",
            "compare the cache with etcd at its exact resourceVersion", "= etcd", key_display="="),
    _key("lab.aim", "t", "choose_target", "server", "fire at ktui's own server or a kubeconfig's"),
    _hidden("lab.pages", "y", "show_pages", "the result in full, as curl, kubectl, client-go, Python", "as…"),
    # With priority: before the keys after it are given to the focused widget.
    _hidden("lab.edit", "i", "edit", "go to the form", "edit", priority=True),
    _key("lab.stop", "x", "stop", "stop", "stop what is running"),
    _hidden("lab.clear", "X", "clear", "forget the results, on disk too", "clear"),
    _key("lab.leave", "escape", "leave", "results", "from the form to the results"),
]  # fmt: skip

FORM: Bindings = [
    _hidden("form.up", "up", "move(-1)", "the field above", "Field above"),
    _hidden("form.down", "down", "move(1)", "the field below", "Field below"),
]

TEXT_FIELD: Bindings = [
    _key("form.fire", "enter", "submit", "fire", "fire what the form says"),
]

CHOICE_FIELD: Bindings = [
    _key("choice.back", "left", "turn(-1)", "choose", "previous choice", key_display="←→"),
    _hidden("choice.next", "right", "turn(1)", "next choice", "Next choice"),
    _key("choice.fire", "enter", "submit", "fire", "fire what the form says"),
]

VERSIONS: Bindings = [
    _key("versions.edit", "i", "edit", "request", "type another request"),
    _key("versions.leave", "escape", "leave", "all", "back to all versions"),
]

AUDIT: Bindings = [
    *DETAIL,
    _key("audit.versions", "v", "view('versions')", "versions", "all versions compared"),
    _key("audit.slow", "t", "view('slow')", "slow etcd", "what etcd found slow"),
    _key("audit.read", "i", "show_input", "input", "files, malformed lines, notes"),
    _key("audit.rules", "V", "choose_rules", "rules", "choose the version and its gates"),
    _hidden("audit.older", "less_than_sign", "older", "the rules of the version before", "older",
            key_display="<"),
    _hidden("audit.newer", "greater_than_sign", "newer", "the rules of the version after", "newer",
            key_display=">"),
    _key("audit.stop", "x", "stop", "stop reading", "show what was read so far"),
    _hidden("audit.up", "up,k", "step(-1)", "the group before", "previous"),
    _hidden("audit.down", "down,j", "step(1)", "the next group", "next"),
    _key("audit.leave", "escape", "leave", "back", "back to the groups"),
]  # fmt: skip

CLOSE_TEXT: Bindings = [_key("text.close", "escape,y,q", "dismiss", "close", "close")]
CLOSE_FILTER_HELP: Bindings = [
    _key("filter.help.close", "escape,q,f1,question_mark", "dismiss", "close", "close"),
]

HELP: Bindings = [
    _key("help.leave", "escape", "leave", "close", "close"),
    _key("help.close", "q,question_mark", "dismiss", "close", "close"),
    _key("help.filter", "slash", "narrow", "filter", "find a key", key_display="/"),
    _key("help.down", "down,j", "scroll(1)", "down", "a line down"),
    _key("help.up", "up,k", "scroll(-1)", "up", "a line up"),
    _key("help.pagedown", "pagedown,space", "page(1)", "page down", "a page down"),
    _key("help.pageup", "pageup", "page(-1)", "page up", "a page up"),
]

COLUMNS: Bindings = [
    _key("columns.toggle", "space", "turn", "show", "show the column, or hide it"),
    _key("columns.up", "K,shift+up", "move(-1)", "up", "one place to the left"),
    _key("columns.down", "J,shift+down", "move(1)", "down", "one place to the right"),
    _key("columns.reset", "r", "reset", "reset", "the columns as they were at first"),
    _key("columns.close", "escape,q", "close", "close", "keep the choice"),
]

SORT: Bindings = [
    _key("sort.close", "escape,q", "dismiss", "close", "leave the order as it is"),
    _key("sort.none", "full_stop", "unsort", "unsort", "no order", key_display="."),
]

RULES: Bindings = [
    _key("rules.close", "escape,q", "dismiss", "close", "leave it as it is"),
    _key("rules.turn", "space", "turn", "turn gate", "turn a gate on or off"),
    _key("rules.other", "left,right,tab", "other", "gates", "versions or gates", priority=True),
]

JUMP: Bindings = [
    _key("jump.close", "escape,q", "dismiss", "close", "stay here"),
    _key("jump.down", "down,j", "cursor(1)", "next", "next way"),
    _key("jump.up", "up,k", "cursor(-1)", "previous", "previous way"),
]

CONFIRM: Bindings = [
    _key("confirm.yes", "y", "answer(True)", "yes", "do it"),
    _key("confirm.no", "n,escape,q", "answer(False)", "no", "leave it"),
]

PAGES: Bindings = [
    _key("pages.close", "escape,q", "dismiss", "close", "close"),
    _key("pages.next", "y,right,tab", "turn(1)", "next", "next page"),
    _key("pages.previous", "left,shift+tab", "turn(-1)", "previous", "previous page"),
    _key("pages.copy", "c", "copy", "copy", "copy this page to the clipboard"),
]

COMPARE: Bindings = [_key("compare.close", "escape,q", "dismiss(None)", "close", "compare nothing")]

TARGET: Bindings = [_key("aim.close", "escape,q", "dismiss(None)", "close", "no change")]

# Where a list acts, as messages about a keymap name it.
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
    "versions": VERSIONS,
    "audit": AUDIT,
}
# Modal: no binding of the app is behind them.
DIALOGS: Mapping[str, Bindings] = {
    "text": CLOSE_TEXT,
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
}
