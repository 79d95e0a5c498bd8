"""Malformed requests from a seed, with a well-behaved client beside them."""
