"""What travels between a server and its clients: telemetry events, documents of `/ktui/v1`, recordings."""
