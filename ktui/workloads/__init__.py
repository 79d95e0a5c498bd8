"""Client behaviours as programs that speak HTTP only."""
