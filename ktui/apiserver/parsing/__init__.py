"""Request bodies parsed within limits: small JSON at once, everything else in a worker process."""
