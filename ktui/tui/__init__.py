"""The Textual dashboard: a client of the server's telemetry and HTTP."""
