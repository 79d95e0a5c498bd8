"""Render `screenshots/` from the real program.

It uses a real server over a real etcd with the demo cluster and its traffic, a recording of it, a generated
log for the audit, and recorded pages of a real kube-apiserver. With BEGINNING, only pictures whose names
begin with it are rendered.
The pictures differ a little from run to run, as the traffic does: they are what a user
sees, not test data (that is `tests/tui/__snapshots__`).
"""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.screenshots import sessions

HOMES = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")


async def render(directory: Path, scratch: Path, only: str) -> None:
    """Render all pictures into `directory`; `scratch` is for the recording and the log."""
    recording = scratch / "monday.ndjson.gz"
    await sessions.photograph_metrics(directory, only)
    await sessions.photograph_traces(directory, only)
    await sessions.photograph_audit(scratch / "audit.log", directory, only)
    if only.startswith(("metrics", "traces", "audit")):
        return
    async with sessions.demo(recording) as (child, connection):
        if only.startswith("journey"):
            await sessions.photograph_live(connection, child, directory, only)
            return
        await sessions.photograph_stored(connection, directory, only)
        if only.startswith("stored"):
            return
        await sessions.photograph_sources(connection, scratch / "kube-audit.log", directory, only)
        if only.startswith("sources"):
            return
        await sessions.photograph_live(connection, child, directory, only)
    await sessions.photograph_replay(recording, directory, only)


def main(directory: Path, only: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob(f"{only}*.svg"):
        old.unlink()
    with TemporaryDirectory() as scratch:
        for name in HOMES:  # without the user's settings, history and results
            os.environ[name] = str(Path(scratch) / name.lower())
            Path(os.environ[name]).mkdir(mode=0o700)
        os.environ.pop("NO_COLOR", None)
        asyncio.run(render(directory, Path(scratch), only))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m tools.screenshots",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("directory", nargs="?", type=Path, default=Path("screenshots"), metavar="DIRECTORY")
    parser.add_argument("only", nargs="?", default="", metavar="BEGINNING")
    chosen = parser.parse_args()
    main(chosen.directory, chosen.only)
