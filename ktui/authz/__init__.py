"""Authorization: decide what a user may do."""
