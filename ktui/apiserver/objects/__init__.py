"""What a write makes of an object before it is stored: defaults, admission, managed fields, patches."""
