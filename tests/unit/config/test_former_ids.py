"""Ids that were renamed still work in config files and saved settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.config import document
from ktui.config.document import Config, place_of
from ktui.tui.keys.keymap import check_keymap, scopes
from ktui.tui.memory import ColumnChoices
from ktui.tui.table.column_ids import COLUMNS, check_columns

from .conftest import Write

OLD = """
[keys]
lab.fire = "f5"
"lab.race" = "f6"
[columns]
lab.results = ["foreseen", "ms"]
cache.ring = ["rv"]
"""


def test_a_config_file_with_old_ids_is_read(config: Write) -> None:
    found: Config = config(OLD)
    assert found.keys == {"lab.send": "f5", "lab.compare": "f6"}
    assert found.columns == {"lab.results": ("predicted", "ms"), "cache.events": ("rv",)}
    assert not check_keymap(found.keys) and not list(check_columns(found.columns))


def test_an_entry_with_the_present_id_wins(config: Write) -> None:
    assert config('[keys]\nlab.send = "f7"\nlab.fire = "f5"').keys == {"lab.send": "f7"}
    found = config('[columns]\ncache.events = ["type"]\ncache.ring = ["rv"]').columns
    assert found == {"cache.events": ("type",)}


def test_a_problem_names_the_line_of_the_old_id(config: Write) -> None:
    found: Config = config(OLD)
    places = [place_of(found.file, "keys", "lab.send"), place_of(found.file, "keys", "lab.compare")]
    assert [place.rpartition(":")[2] for place in places] == ["3", "4"]


def test_chosen_columns_that_were_saved_with_old_ids_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "columns.json"
    path.write_text('{"lab.results": ["foreseen", "ms"], "cache.ring": ["rv"]}')
    choices = ColumnChoices({}, path)
    assert list(choices.of("lab.results")) == ["predicted", "ms"]
    assert list(choices.of("cache.events")) == ["rv"]


@pytest.mark.parametrize("old", [*document.FORMER_KEYS, *document.FORMER_TABLES])
def test_an_old_id_is_not_used_and_its_present_one_is(old: str) -> None:
    known = {binding.id for scope in scopes() for binding in scope.bindings} | COLUMNS.keys()
    assert old not in known
    assert (document.FORMER_KEYS | document.FORMER_TABLES)[old] in known
