"""The write path: POST, PUT, PATCH, DELETE, and the subresources that write."""
