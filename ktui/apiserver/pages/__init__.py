"""Everything served besides objects: health, version, metrics, telemetry, discovery, ktui's own endpoints."""
