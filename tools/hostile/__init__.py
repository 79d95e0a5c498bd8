"""Hostile requests: named cases with bounds (`python -m tools.hostile`), and random malformed ones."""
