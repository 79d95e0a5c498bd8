"""Excerpts of the recordings of a real kube-apiserver 1.36.2; the whole is in tests/fidelity/recordings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tools.fidelity.span_routes import NAMES, NOW, listed

__all__ = ["DATA", "NAMES", "NOW", "file", "listed", "truth"]

DATA = Path(__file__).parent / "data"


def file(recording: str, name: str) -> str:
    """Return the path of an excerpt."""
    return str(DATA / f"{recording}-{name}")


def truth(recording: str) -> dict[str, dict[str, Any]]:
    """Return what was sent and answered, by Audit-ID."""
    found: dict[str, Any] = json.loads(Path(file(recording, "truth.json")).read_text())
    return found
