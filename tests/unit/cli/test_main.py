"""The command line: fast answers, clear refusals, and no heavy import where none is due."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ktui
from ktui import __version__
from ktui.cli import output
from ktui.cli.main import COMMANDS, main
from ktui.client.connection import ClientError
from ktui.config.errors import ConfigError


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ktui {__version__}\n"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert all(f"\n  {name} " in said for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"ktui {command}" in capsys.readouterr().out.split("example", 1)[1]


def test_an_unknown_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explian", "/api/v1/pods"]) == 2
    assert "did you mean `ktui explain`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["--help"],
        ["explain", "/api/v1/pods"],
        ["decode", "--help"],
        ["list", "--help"],
        ["info"],
        ["completion", "bash"],
        ["completion", "--words", "contexts"],
        ["web", "--help"],
    ],
)
def test_light_commands_import_no_textual_and_no_grpc(words: list[str]) -> None:
    program = (
        "import sys\nfrom ktui.cli.main import main\n"
        f"try: main({words!r})\nexcept SystemExit: pass\n"
        "heavy = {'textual', 'grpc', 'httpx', 'granian', 'aiohttp'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_snapshot_that_cannot_be_read_ends_the_dashboard_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--snapshot", str(tmp_path / "gone.db")]) == 3
    assert capsys.readouterr().err == f"ktui: snapshot {tmp_path / 'gone.db'}: there is no such file\n"


def test_every_error_with_an_exit_code_is_a_class() -> None:
    sources = [path.read_text() for path in Path(ktui.__file__).parent.rglob("*.py")]
    for name in output._STATUSES:
        assert any(re.search(rf"^class {name}\(", source, re.MULTILINE) for source in sources), name


def test_an_error_of_a_subclass_has_the_exit_code_of_its_base() -> None:
    class ServerGone(ClientError):
        pass

    assert output.status_of(ServerGone("gone")) == output.NO_CONNECTION
    assert output.status_of(ConfigError("wrong")) == output.USAGE
    assert output.status_of(ValueError("a bug")) == 0
