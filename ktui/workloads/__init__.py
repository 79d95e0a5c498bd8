"""Client behaviours as programs that only use HTTP."""
