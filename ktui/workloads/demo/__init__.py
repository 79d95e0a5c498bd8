"""A demo cluster: objects as a real one would hold them, the same for the same seed."""
