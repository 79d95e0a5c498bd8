"""Which etcds answer progress requests reliably."""

from __future__ import annotations

import pytest

from ktui.etcd.progress import supports_progress


@pytest.mark.parametrize(
    ("version", "supported"),
    [
        ("3.3.27", False),
        ("3.4.30", False),
        ("3.4.31", True),
        ("3.5.0", False),
        ("3.5.1", False),
        ("3.5.12", False),
        ("3.5.13", True),
        ("v3.5.13", True),
        ("3.5.30-rc.1", True),
        ("3.6.0", True),
        ("3.6.0-alpha.0", True),
        ("3.7.1", True),
        ("4.0.0", True),
        ("", False),
        ("3.5", False),
        ("latest", False),
    ],
)
def test_by_version(version: str, supported: bool) -> None:
    assert supports_progress(version) is supported
