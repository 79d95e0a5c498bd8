"""All key bindings, users' keymaps, and the keys that texts name."""
