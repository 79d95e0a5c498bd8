"""Pages next to the API's objects: health, version, metrics, telemetry, discovery, ktui's endpoints."""
