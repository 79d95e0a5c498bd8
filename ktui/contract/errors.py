"""What is wrong with a recording. Apart from its format: who only catches it loads nothing else."""

from __future__ import annotations


class RecordingError(Exception):
    """A recording cannot be read or written; the message is one clear sentence."""
