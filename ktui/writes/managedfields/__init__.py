"""Field management and server-side apply."""
