"""ktui: a terminal explorer of the Kubernetes control plane's read path."""

from __future__ import annotations

__version__ = "0.1.0"

# What pip installs. The project named `ktui` on PyPI is another: no hint may name it.
DISTRIBUTION = "ktui-explorer"


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation, for a shell.

    Its name is that of the distribution that provides the command `ktui`; if it was installed from a
    directory that still exists, the directory.
    """
    from importlib.metadata import entry_points  # start-up time
    from shlex import quote

    found = [
        point.dist
        for point in entry_points(group="console_scripts", name="ktui")
        if point.value == "ktui.__main__:main" and point.dist is not None and point.dist.name != "ktui"
    ]
    what = (_directory(found[0].read_text("direct_url.json")) or found[0].name) if found else DISTRIBUTION
    return f"pip install {quote(f'{what}[{extra}]')}"


def _directory(direct_url: str | None) -> str:
    """Return the directory that pip's `direct_url.json` names; "" if it is another source, or gone."""
    import json  # start-up time
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    try:
        address = urlsplit(json.loads(direct_url or "{}").get("url", ""))
    except (ValueError, AttributeError):
        return ""
    path = Path(unquote(address.path))
    return str(path) if address.scheme == "file" and (path / "pyproject.toml").is_file() else ""
