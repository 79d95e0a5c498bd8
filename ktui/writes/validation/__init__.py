"""Validation of objects: what is refused with 422."""
