"""Served besides objects: health, version, metrics, telemetry, discovery, and ktui's own endpoints."""
