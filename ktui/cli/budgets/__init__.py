"""What `ktui ci` and `ktui audit --budget` print and write."""
