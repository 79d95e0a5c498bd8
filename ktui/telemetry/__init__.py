"""The server's telemetry: the event bus, and the meter of one request."""
