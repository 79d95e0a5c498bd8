"""Services' cluster IPs and node ports: allocated, kept and freed."""
