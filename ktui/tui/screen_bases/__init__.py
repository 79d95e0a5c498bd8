"""Base classes of all screens."""
