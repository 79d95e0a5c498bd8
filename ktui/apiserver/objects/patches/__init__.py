"""The patch languages that clients speak, as pure functions over JSON trees."""
