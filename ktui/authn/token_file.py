"""`--token-auth-file`: users by token, one per line: token,user,uid,"group1,group2"."""

from __future__ import annotations

import csv
from pathlib import Path

from ktui.documents.limits import read_bytes
from ktui.kube.users import AUTHENTICATED, Requester

MOST_BYTES = 1 << 20


def read_users(path: Path) -> dict[str, Requester]:
    """Return users by token; ValueError names the invalid line."""
    try:
        text = read_bytes(path, MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"--token-auth-file {path} cannot be read: {error}") from error
    users: dict[str, Requester] = {}
    for number, row in enumerate(csv.reader(text.splitlines()), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if len(cells) < 3 or not cells[0] or not cells[1]:
            raise ValueError(f"--token-auth-file {path}: line {number} is not token,user,uid[,groups]")
        if cells[0] in users:
            raise ValueError(f"--token-auth-file {path}: line {number} has the token of a line before")
        groups = [group.strip() for group in cells[3].split(",")] if len(cells) > 3 else []
        named = tuple(dict.fromkeys([*filter(None, groups), AUTHENTICATED]))
        users[cells[0]] = Requester(cells[1], named, cells[2])
    return users
