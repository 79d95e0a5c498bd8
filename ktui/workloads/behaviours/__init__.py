"""Client behaviours: each a small program that sends HTTP requests as such a client does."""
