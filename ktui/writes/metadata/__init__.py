"""ObjectMeta: what the server writes into it, and its rules."""
