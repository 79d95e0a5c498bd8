"""Telemetry folded into what screens show: pure, no Textual."""
