"""API Priority and Fairness: seats, queues, and the order in which requests are served."""
