"""Screen 8: the selected request under every version."""
