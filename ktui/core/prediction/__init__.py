"""What the routing rules predict for a request, from what is known of the server."""
