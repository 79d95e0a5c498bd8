"""An audit of logs: read, and its report as rows."""
