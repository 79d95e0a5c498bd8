"""API Priority and Fairness: seats, queues, and who waits."""
