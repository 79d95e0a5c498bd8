"""Render the gallery `screenshots/` from the real program over a real etcd and the demo's traffic."""
