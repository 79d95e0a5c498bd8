"""All keys in one table: footer, help, palette and a user's keymap read it.

Every binding has an id (so that it can be remapped) and a tooltip (the help's text).
"""

from __future__ import annotations

from textual.binding import Binding, BindingType

from ktui.tui.navigation.modes import MODES
from ktui.tui.replay.keys import RECORDING, REPLAY

TABLE: list[BindingType] = [
    Binding("up,k", "cursor(-1)", "Up", show=False, id="table.up", tooltip="one row up"),
    Binding("down,j", "cursor(1)", "Down", show=False, id="table.down", tooltip="one row down"),
    Binding("pageup", "page(-1)", "Page up", show=False, id="table.pageup", tooltip="one page up"),
    Binding("pagedown", "page(1)", "Page down", show=False, id="table.pagedown", tooltip="one page down"),
    Binding("home,g", "first", "First", show=False, id="table.first", tooltip="first row"),
    Binding("end,G", "last", "Last", show=False, id="table.last", tooltip="last row; a live table follows"),
    Binding("enter", "select", "Open", show=False, id="table.open", tooltip="go deeper"),
    Binding("escape", "clear_filter", "clear", show=False, id="table.clear", tooltip="clear the filter"),
]

TREE: list[BindingType] = [
    Binding("left,h", "fold", "Close", show=False, id="tree.close", tooltip="close the branch"),
    Binding("right,l", "unfold", "Open", show=False, id="tree.open", tooltip="open the branch"),
]

DETAIL: list[BindingType] = [
    Binding(
        "left", "panel(-1)", "Panel", show=False, id="detail.previous", tooltip="previous panel of the detail"
    ),
    Binding("right", "panel(1)", "Panel", show=False, id="detail.next", tooltip="next panel of the detail"),
]

APP: list[BindingType] = [
    *(
        Binding(
            str(mode.number),
            f"go('{mode.name}')",
            mode.title,
            id=f"go.{mode.name}",
            tooltip=mode.about,
        )
        for mode in MODES
    ),
    # First of all, so that what is typed right after them goes into the line that they open.
    Binding(
        "slash",
        "screen.filter",
        "filter",
        key_display="/",
        id="filter",
        priority=True,
        tooltip="filter the table by column",
    ),
    Binding(
        "colon",
        "command",
        "go",
        key_display=":",
        id="command",
        priority=True,
        tooltip="go to a screen, a resource, a key, a revision, a request; change something",
    ),
    Binding("space", "pause", "pause", show=False, id="pause", tooltip="hold the tables still"),
    Binding("s", "screen.sort", "sort", show=False, id="sort", tooltip="sort by a column, or by two"),
    Binding("S", "screen.sort_turn", "turn sort", show=False, id="sort.turn", tooltip="turn the sort round"),
    Binding("w", "writes", "writes", show=False, id="writes", tooltip="show writes in the log, or hide them"),
    Binding(
        "y", "screen.show_object", "object", show=False, id="object", tooltip="show what is selected as JSON"
    ),
    Binding("e", "screen.export", "export", show=False, id="export", tooltip="write the table to a CSV file"),
    Binding("E", "screen.export('json')", show=False, id="export.json", tooltip="write it to a JSON file"),
    Binding("c", "screen.copy", show=False, id="copy", tooltip="copy what is selected; again: the whole row"),
    Binding("C", "screen.columns", show=False, id="columns", tooltip="choose the columns of the table"),
    Binding("F", "screen.follow", show=False, id="follow", tooltip="hold this table, or follow it again"),
    Binding(
        "o",
        "screen.elsewhere",
        "open",
        show=False,
        id="elsewhere",
        tooltip="where the selected row leads: request, cache, key, watcher, Lab, Versions",
    ),
    Binding("left_square_bracket", "go_back", "back", key_display="[", show=False, id="back", tooltip="back"),
    Binding(
        "right_square_bracket",
        "go_forward",
        "forward",
        key_display="]",
        show=False,
        id="forward",
        tooltip="forth",
    ),
    Binding("r", "restart", "restart", show=False, id="restart", tooltip="restart a server that has stopped"),
    Binding(
        "V", "rules", "version", show=False, id="rules", tooltip="switch the server's Kubernetes version"
    ),
    *RECORDING,
    *REPLAY,
    Binding("T", "next_theme", "theme", show=False, id="theme", tooltip="next theme"),
    Binding("question_mark", "help", "help", key_display="?", id="help", tooltip="these keys"),
    Binding("q", "quit", "quit", id="quit", tooltip="leave ktui"),
]

# Right after a jump it acts before what screens and tables do with that key; at other times it lets them.
AFTER_A_JUMP: list[BindingType] = [
    Binding(
        "escape",
        "come_back",
        "back",
        show=False,
        id="come_back",
        priority=True,
        tooltip="back to where a jump has led from",
    ),
]
