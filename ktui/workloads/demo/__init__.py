"""A demo cluster: objects as in a real one, the same for the same seed."""
