"""What is served beside objects: health, version, metrics, telemetry, discovery, and ktui's own endpoints."""
