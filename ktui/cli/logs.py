"""The option `--log-file`: a log of what ktui does, without secrets, and never printed."""

from __future__ import annotations

import argparse
import logging
import os
import re
import sys
import time
from io import TextIOWrapper
from pathlib import Path

from ktui.cli.output import warn
from ktui.config.errors import ConfigError
from ktui.printable import escaped
from ktui.private_file import open_private

_SECRETS = (  # compiled with the first message: `re` keeps it
    r"(?i)((?:bearer|basic) +|(?:token|password|passwd)(?:=|[\"'] *: *[\"']))[^\s&\"',;]+"
)
_PASSWORD_OF_URL = r"(://[^\s/:@]*:)[^\s/]+(?=@)"
# Libraries that log every request at INFO; ktui logs its own.
_CHATTY = ("httpx", "httpcore", "aiohttp.access")
_hidden: set[str] = set()
_file: _File | None = None


def log_of(module: str) -> logging.Logger:
    """Return a module's logger, whose messages Python does not print: users see them in another way."""
    logger = logging.getLogger(module)
    logger.addHandler(logging.NullHandler())
    return logger


def start_log(args: argparse.Namespace, process: str) -> None:
    """Log to the file in `args`; without one nothing is logged or printed. Raises ConfigError.

    `process` is "dashboard" or "serve", which write to the same file.
    """
    global _file
    environ = os.environ
    accounts = getattr(args, "user", "") or "", environ.get("ETCDCTL_USER", "")
    hide(*(account.partition(":")[2] for account in accounts), getattr(args, "token", "") or "")
    hide(environ.get("KTUI_TOKEN", ""), environ.get("ETCDCTL_PASSWORD", ""))
    if not args.log_file:
        if process == "dashboard":  # nothing may be printed over its screen
            logging.getLogger().addHandler(logging.NullHandler())
        return
    path = Path(args.log_file).expanduser()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = _File(path, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write the log {path}: {error.strerror}") from error
    handler.setFormatter(_Lines(process, args.log_format))
    root = logging.getLogger()
    level = logging.getLevelNamesMapping()[args.log_level.upper()]
    root.addHandler(handler)
    root.setLevel(max(level, logging.INFO))  # not the DEBUG messages of libraries
    logging.getLogger("ktui").setLevel(level)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(True)
    _file = handler


class _File(logging.FileHandler):
    """A log file that is closed at the first line that cannot be written; the program continues."""

    problem = ""

    def _open(self) -> TextIOWrapper:
        return os.fdopen(open_private(Path(self.baseFilename), os.O_APPEND), "a", encoding=self.encoding)

    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        why = (error.strerror if isinstance(error, OSError) else "") or str(error)
        self.problem = f"the log {self.baseFilename} ends early: {why}"
        logging.getLogger().removeHandler(self)


def log_path() -> Path | None:
    """The log file, if one is open and writable."""
    return Path(_file.baseFilename) if _file is not None and not _file.problem else None


def report_log_problem() -> None:
    """Report on standard error, once the terminal is free, that the log is incomplete."""
    if _file is not None and _file.problem:
        warn(_file.problem)


def hide(*secrets: str) -> None:
    _hidden.update(secret for secret in secrets if len(secret) > 3)


def without_secrets(text: str) -> str:
    for secret in _hidden:
        text = text.replace(secret, "***")
    return re.sub(_SECRETS, r"\1***", re.sub(_PASSWORD_OF_URL, r"\1***", text))


class _Lines(logging.Formatter):
    """Formats `2026-11-20T11:36:34.123Z INFO    serve ktui.cli.serve: text` (further lines indented), or a
    JSON object per line: time, level, process, pid, logger, message."""

    def __init__(self, process: str, form: str) -> None:
        super().__init__()
        self._process, self._form = process, form

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        if record.exc_info:
            message += "\n" + self.formatException(record.exc_info)
        message, time_ = without_secrets(message), stamp(record.created)
        if self._form == "plain":
            head = f"{time_} {record.levelname:<7} {self._process} {record.name}: "
            return head + "\n    ".join(escaped(line) for line in message.splitlines() or [""])
        import json  # start-up time

        line = {"time": time_, "level": record.levelname.lower(), "process": self._process,
                "pid": record.process, "logger": record.name, "message": message}  # fmt: skip
        return json.dumps(line)


def stamp(at: float) -> str:
    """Return a time (Unix seconds) in UTC with milliseconds: `2026-11-20T11:36:34.123Z`."""
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(at))}.{int(at % 1 * 1000):03d}Z"
