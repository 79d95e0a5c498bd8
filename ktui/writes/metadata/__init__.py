"""ObjectMeta: the fields that the server sets, and their validation."""
