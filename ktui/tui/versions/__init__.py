"""Mode 8: the request in hand under every version."""
