"""Recordings to give away: each field of each event is kept, put away or hashed, by one table."""
