"""The audit of logs, as screens."""
