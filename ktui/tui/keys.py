"""All keys in one table: footer, help, palette and a user's keymap read it.

Every binding has an id (so that it can be remapped) and a tooltip (the help's text).
"""

from __future__ import annotations

from textual.binding import Binding, BindingType

from ktui.tui.modes import MODES

TABLE: list[BindingType] = [
    Binding("up,k", "cursor(-1)", "Up", show=False, id="table.up", tooltip="one row up"),
    Binding("down,j", "cursor(1)", "Down", show=False, id="table.down", tooltip="one row down"),
    Binding("pageup", "page(-1)", "Page up", show=False, id="table.pageup", tooltip="one page up"),
    Binding("pagedown", "page(1)", "Page down", show=False, id="table.pagedown", tooltip="one page down"),
    Binding("home,g", "first", "First", show=False, id="table.first", tooltip="first row"),
    Binding("end,G", "last", "Last", show=False, id="table.last", tooltip="last row; a live table follows"),
    Binding("enter", "select", "Open", show=False, id="table.open", tooltip="go deeper"),
]

TREE: list[BindingType] = [
    Binding("left,h", "fold", "Close", show=False, id="tree.close", tooltip="close the branch"),
    Binding("right,l", "select", "Open", show=False, id="tree.open", tooltip="open the branch"),
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
    Binding("slash", "filter", "filter", key_display="/", id="filter", tooltip="filter the table by column"),
    Binding("colon", "command", "go", key_display=":", id="command", tooltip="go to a screen by its name"),
    Binding("space", "pause", "pause", show=False, id="pause", tooltip="hold the tables still"),
    Binding("s", "sort", "sort", show=False, id="sort", tooltip="sort by the next column"),
    Binding("S", "sort_turn", "turn sort", show=False, id="sort.turn", tooltip="turn the sort round"),
    Binding("w", "writes", "writes", show=False, id="writes", tooltip="show writes in the log, or hide them"),
    Binding("y", "show_object", "object", show=False, id="object", tooltip="show what is selected as JSON"),
    Binding("e", "export", "export", show=False, id="export", tooltip="write the table to a CSV file"),
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
    Binding("T", "next_theme", "theme", show=False, id="theme", tooltip="next theme"),
    Binding("question_mark", "help", "help", key_display="?", id="help", tooltip="these keys"),
    Binding("q", "quit", "quit", id="quit", tooltip="leave ktui"),
]
