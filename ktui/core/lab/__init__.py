"""The Lab: compose, predict, send and measure requests."""
