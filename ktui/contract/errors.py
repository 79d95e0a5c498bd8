"""The error of recordings. A separate module, so that code that only catches it imports nothing else."""

from __future__ import annotations


class RecordingError(Exception):
    """A recording cannot be read or written; the message is one sentence."""
