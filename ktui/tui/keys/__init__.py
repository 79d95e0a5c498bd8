"""Every key binding in one table; users' keymaps; the keys that texts name."""
