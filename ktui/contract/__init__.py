"""Data exchanged between server and clients: telemetry events, documents of `/ktui/v1`, recordings."""
