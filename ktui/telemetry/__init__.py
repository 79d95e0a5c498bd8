"""Typed events of what the server does, how they are metered, streamed, recorded and replayed."""
