"""Every key of a TOML file has its line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.config.errors import ConfigError
from ktui.config.tomlfile import TomlFile, read_toml

TEXT = '''# a comment
context = "prod"

[server]
warm = [
  "pods",  # the largest
  "nodes",
]
listen = "127.0.0.1:6443"

[contexts.prod]
etcd = """
https://10.0.0.1:2379"""
[contexts."a.b"]
attach = "https://127.0.0.1:1"
[keys]
go.lab = "f5"
"go.etcd" = "f4"
gates = { A = true }
'''


def written(path: Path, text: str = TEXT) -> TomlFile:
    path.write_text(text)
    return read_toml(path)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("context",), 2),
        (("server",), 4),
        (("server", "warm"), 5),
        (("server", "listen"), 9),
        (("contexts", "prod", "etcd"), 12),
        (("contexts", "a.b", "attach"), 15),
        (("keys", "go", "lab"), 17),
        (("keys", "go.etcd"), 18),
        (("keys", "gates", "A"), 19),
        (("keys", "nothing"), 16),
        (("nothing",), 0),
    ],
)
def test_the_line_of_a_key(path: Path, keys: tuple[str, ...], line: int) -> None:
    assert written(path).line(*keys) == line


def test_where_names_the_file_and_the_line(path: Path) -> None:
    assert written(path).where("server", "listen") == f"{path}:9"
    assert written(path).where("nothing") == str(path)


def test_a_missing_file_is_an_empty_one(path: Path) -> None:
    file = read_toml(path)
    assert (file.data, file.exists) == ({}, False)


def test_what_is_no_toml_is_said_with_its_place(path: Path) -> None:
    with pytest.raises(ConfigError, match=r"config\.toml is not valid TOML: .*line 2"):
        written(path, "a = 1\nb = \n")


def test_what_is_no_text_is_said(path: Path) -> None:
    path.write_bytes(b"a = '\xff'")
    with pytest.raises(ConfigError, match=r"is not UTF-8 text: byte 5"):
        read_toml(path)


def test_a_directory_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*: Is a directory"):
        read_toml(tmp_path)


@given(st.lists(st.sampled_from(["", "# note", "x = [\n1,\n2]", 'x = """\na\n"""']), max_size=6))
def test_nothing_before_a_key_moves_its_line(before: list[str]) -> None:
    statements = [text.replace("x", f"x{number}") for number, text in enumerate(before)]
    text = "\n".join([*statements, "wanted = 1"])
    assert TomlFile(Path("f"), text).line("wanted") == text.count("\n") + 1
