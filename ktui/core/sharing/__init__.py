"""Copies of recordings to share: a table says for each event field whether it is kept or pseudonymised."""
