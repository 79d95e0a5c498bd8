"""Logs with lines about each request: the audit log, and httplog."""
