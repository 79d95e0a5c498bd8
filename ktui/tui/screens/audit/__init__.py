"""The audit of logs, as screens."""

from ktui.tui.screens.audit.screen import AuditScreen

__all__ = ["AuditScreen"]
