"""Which keys the footer shows in how many cells."""

from __future__ import annotations

from ktui.tui.navigation.modes import MODES
from ktui.tui.widgets.key_bar import ShownKey, fitting, gap_of

HELP = ShownKey("help", "question_mark", "?", "help", "")
OWN = [ShownKey(f"etcd.{key}", key, key, f"thing {key}", "") for key in "abcdef"]
SCREENS = [ShownKey(f"go.{mode.name}", str(mode.number), str(mode.number), mode.title, "") for mode in MODES]
EVERYWHERE = [
    ShownKey("filter", "slash", "/", "filter", ""),
    ShownKey("command", "colon", ":", "go", ""),
    ShownKey("quit", "q", "q", "quit", ""),
]
ALL = [HELP, *OWN, *SCREENS, *EVERYWHERE]


def width_of(keys: list[ShownKey]) -> int:
    return sum(key.width for key in keys) + len(keys) - 1


def test_everything_where_there_is_room() -> None:
    assert fitting(ALL, 300) == ALL


def test_a_hundred_columns_name_every_screen() -> None:
    keys = [HELP, *SCREENS, *EVERYWHERE]
    assert fitting(keys, 110) == keys


def test_screens_stand_as_one_where_their_names_have_no_room() -> None:
    drawn = fitting([HELP, *OWN[:3], *SCREENS, *EVERYWHERE], 80)
    assert [key.written + " " + key.about for key in drawn] == [
        "? help", "a thing a", "b thing b", "c thing c", "1–8 screens", "/ filter", ": go", "q quit"
    ]  # fmt: skip
    screens = next(key for key in drawn if key.about == "screens")
    assert screens.key == "colon" and screens.tooltip.startswith("1 Overview, 2 Requests")


def test_screens_on_other_keys_are_told_one_by_one() -> None:
    moved = [*SCREENS[:1], ShownKey("go.requests", "f2", "f2", "Requests", "")]
    assert fitting([HELP, *moved], 22)[-1].written == "1 f2"


def test_no_key_is_without_its_word_and_help_is_always_the_first() -> None:
    for width in range(8, 160):
        drawn = fitting(ALL, width)
        assert width_of(drawn) <= width
        assert drawn[0] == HELP and all(key.about for key in drawn)


def test_help_command_and_quit_stay_when_the_screens_own_keys_go_one_by_one() -> None:
    drawn = fitting(ALL, 52)
    assert [key.id for key in drawn] == ["help", "etcd.a", "etcd.b", "screens", "command", "quit"]
    assert fitting(ALL, 18) == [HELP, *EVERYWHERE[1:]]
    assert fitting(ALL, 13) == [HELP, EVERYWHERE[2]]


def test_keys_stand_apart_where_there_is_room() -> None:
    keys = [HELP, *EVERYWHERE]
    assert width_of(keys) == 27
    assert [gap_of(keys, width) for width in (27, 29, 30, 80)] == [1, 1, 2, 2]
