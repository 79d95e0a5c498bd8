"""The program with mistakes in it: `?` raises in a handler, `8` in a worker. All else is untouched.

With KTUI_TEST_ENDLESS_START its server is never ready.
"""

import asyncio
import os
import sys
from unittest.mock import patch

from ktui.cli.child import ServerChild
from ktui.cli.main import main
from ktui.tui.app import KtuiApp


def help_that_raises(app: KtuiApp) -> None:
    password = "hunter2"  # a local variable, which must not be shown
    raise RuntimeError(f"deliberately [b]broken[/b] \x1b[31m with {len(password)} letters")


async def work_that_raises() -> None:
    raise LookupError("deliberately lost")


def versions_that_raise(app: KtuiApp, mode: str) -> None:
    app.run_worker(work_that_raises())


async def never_ready(child: ServerChild, process: asyncio.subprocess.Process) -> None:
    await asyncio.Event().wait()


patch.object(KtuiApp, "action_help", help_that_raises).start()
patch.object(KtuiApp, "action_go", versions_that_raise).start()
if "KTUI_TEST_ENDLESS_START" in os.environ:
    patch.object(ServerChild, "_until_ready", never_ready).start()

if __name__ == "__main__":
    sys.exit(main())
