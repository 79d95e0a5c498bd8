"""Send malformed requests from a seed, together with a well-behaved client."""
