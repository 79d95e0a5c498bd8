"""What the dashboard loads before its first frame: each module more is a later frame."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

PROGRAM = """
import sys
import ktui.cli.main, ktui.cli.dashboard, ktui.cli.child, ktui.tui.app, ktui.tui.overview.screen
import ktui.core.recordings.segments, ktui.tui.replay.source, ktui.tui.replay.scrub_bar  # of a replay
import ktui.traces
print(" ".join(sys.modules))
"""
# What each of them is for comes later: the client once there is a server, rules once there is a request,
# dialogs and commands once they are opened, a recording's bytes once it is read.
LATER = (
    "grpc",
    "gzip",
    "html.entities",
    "httpx",
    "ktui.audit.report",
    "ktui.client.api",
    "ktui.client.ktui_api",
    "ktui.contract.etcd_documents",
    "ktui.contract.faults",
    "ktui.core.object_lines",
    "ktui.core.stored",
    "ktui.kube.advice",
    "ktui.kube.routing",
    "ktui.kube.versions",
    "ktui.core.recordings.markers",
    "ktui.core.recordings.reader",
    "ktui.tui.commands",
    "ktui.core.table.export",
    "ktui.core.table.filter_assist",
    "ktui.tui.navigation.related",
    "ktui.tui.overview.stored",
    "ktui.tui.overview.stored_panels",
    "ktui.tui.table.paged_table",
    "ktui.tui.widgets.line_view",
    "ktui.tui.replay.bar",
    "ktui.core.replay.index",
    "ktui.tui.dialogs",
    "ktui.tui.requests.screen",
    "ktui.traces.feed",
    "mmap",
    "re2",
    "statistics",
)


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_first_screen_is_loaded(loaded: set[str]) -> None:
    assert {"ktui.tui.overview.screen", "textual.app"} <= loaded


@pytest.mark.parametrize("module", LATER)
def test_what_comes_later_is_loaded_later(loaded: set[str], module: str) -> None:
    assert find_spec(module) is not None, "it has another name now"
    assert not [name for name in loaded if name == module or name.startswith(f"{module}.")]
