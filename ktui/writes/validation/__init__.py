"""Validation of objects: errors with 422."""
