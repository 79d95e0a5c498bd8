"""Admission plugins."""
