"""Errors of recordings. A module of its own: code that only catches them imports nothing else."""

from __future__ import annotations


class RecordingError(Exception):
    """A recording cannot be read or written; the message is one sentence."""
