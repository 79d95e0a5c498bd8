"""Immutable fields of built-in kinds (1.36): pure rules for two states of an object, with their defaults."""
