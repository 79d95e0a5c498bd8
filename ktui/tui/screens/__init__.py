"""One screen a mode."""
