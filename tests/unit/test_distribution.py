"""What users install: its name in every text, its files, and the kubectl plugin for krew."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ktui import DISTRIBUTION, __version__, install_command

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FOLDERS = ("ktui", "tests", "tools", "benchmarks", "docs", "packaging", ".github", ".ci")
PLUGIN = ROOT / "packaging" / "kubectl-ktui"

# Another project's code, if a user does what it says.
_STRANGER = re.compile(
    r"(?<![\w./-])ktui\[['\"{\w]"
    r"|\b(?:pipx?|uv(?: tool| pip)?)\s+(?:install|run|inject|upgrade|download|add)\s+"
    r"(?:(?!--spec)[^\s&;|`]+\s+)*['\"]?ktui(?![\w./-])"
    r"|(?:\buvx|--from|--spec)\s+(?:--\S+\s+)*['\"]?ktui(?![\w./-])"
)


def texts() -> list[Path]:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [path for path in ROOT.iterdir() if path.is_file()]
    kinds = {"", ".py", ".md", ".toml", ".yml", ".yaml", ".1", ".html", ".js", ".cfg"}
    return [path for path in files if path.suffix in kinds and path != Path(__file__)]


def test_no_text_tells_to_install_another_project() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in texts()
        for match in _STRANGER.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("pip install 'ktui[web]'", True),
        ("(and ktui[lake] be installed)", True),
        ("pip install ktui", True),
        ("pip install --user -U ktui", True),
        ("pipx run ktui", True),
        ("uvx ktui list", True),
        ("uvx --from ktui ktui", True),
        ("uv tool install ktui", True),
        ("pip install 'ktui-explorer[web]'", False),
        ("uvx --from ktui-explorer ktui", False),
        ("pip install --quiet . && .venv/bin/ktui", False),
        ("uvx --from . ktui", False),
        ("pipx run --spec ktui-explorer ktui", False),
        ("pipx run --spec ktui ktui", True),
    ],
)
def test_such_a_text_would_be_found(text: str, wrong: bool) -> None:
    assert bool(_STRANGER.search(text)) == wrong


def dist_info(folder: Path, name: str, origin: str = "") -> None:
    """An installed distribution that provides the command."""
    info = folder / f"{name.replace('-', '_')}-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 9\n")
    (info / "entry_points.txt").write_text("[console_scripts]\nktui = ktui.__main__:main\n")
    if origin:
        (info / "direct_url.json").write_text(origin)


@pytest.mark.parametrize(
    ("installed", "origin", "command"),
    [
        ("", "", "pip install 'ktui-explorer[web]'"),  # no metadata at all
        ("ktui", "", "pip install 'ktui-explorer[web]'"),  # an old installation, or another project
        ("ktui-explorer", "", "pip install 'ktui-explorer[web]'"),
        ("ktui-of-a-distributor", "", "pip install 'ktui-of-a-distributor[web]'"),
        ("ktui-explorer", '{"url": "file://CLONE", "dir_info": {}}', "pip install 'CLONE[web]'"),
        ("ktui-explorer", '{"url": "file:///gone"}', "pip install 'ktui-explorer[web]'"),
        ("ktui-explorer", '{"url": "https://example.com/a.whl"}', "pip install 'ktui-explorer[web]'"),
        ("ktui-explorer", "[]", "pip install 'ktui-explorer[web]'"),
        ("ktui-explorer", "{", "pip install 'ktui-explorer[web]'"),
    ],
)
def test_a_hint_names_what_is_installed(
    installed: str, origin: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "a clone"
    clone.mkdir()
    (clone / "pyproject.toml").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    if installed:
        dist_info(tmp_path, installed, origin.replace("CLONE", str(clone).replace(" ", "%20")))
    assert install_command("web") == command.replace("CLONE", str(clone))


def test_the_wheel_is_complete(tmp_path: Path) -> None:
    """`python -m build` calls this; the wheel has every file of the package, and no other."""
    program = (
        "import sys, hatchling.build as backend; print(backend.build_wheel(sys.argv[1]));"
        "print(backend.build_sdist(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    wheel, sdist = done.stdout.split()
    assert wheel == f"ktui_explorer-{__version__}-py3-none-any.whl"
    assert sdist == f"ktui_explorer-{__version__}.tar.gz"
    names = set(zipfile.ZipFile(tmp_path / wheel).namelist())
    source = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "ktui").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    themes = {f"ktui/themes/{path.name}" for path in (ROOT / "themes").iterdir()}
    assert {name for name in names if name.startswith("ktui/")} == source | themes
    assert {name.partition("/")[2] for name in names if ".data/" in name} == {"data/share/man/man1/ktui.1"}


def test_the_plugin_runs_this_release_and_no_other(tmp_path: Path) -> None:
    echo = '#!/bin/sh\nfor word in "$0" "$@"; do echo "${word##*/}"; done\n'
    words = []
    for runner in ("pipx", "uvx"):  # the second is preferred
        (tmp_path / runner).write_text(echo)
        (tmp_path / runner).chmod(0o755)
        done = subprocess.run(
            ["/bin/sh", str(PLUGIN), "list", "a b"],
            env={"PATH": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        words.append(done.stdout.splitlines())
    pinned = f"{DISTRIBUTION}=={__version__}"
    assert words == [
        ["pipx", "run", "--spec", pinned, "ktui", "list", "a b"],
        ["uvx", "--from", pinned, "ktui", "list", "a b"],
    ]


def test_without_a_runner_the_plugin_says_what_it_needs(tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", str(PLUGIN)], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "needs uv or pipx" in done.stderr


def test_the_source_installed_here_provides_the_command() -> None:
    points = importlib.metadata.entry_points(group="console_scripts", name="ktui")
    assert {point.value for point in points} <= {"ktui.__main__:main"}
