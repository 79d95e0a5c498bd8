"""Recordings to share: each field of each event is kept, left out or pseudonymised, by one table."""
