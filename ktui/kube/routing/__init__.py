"""Where a GET, LIST or WATCH is answered from, and why: pure functions over data."""
