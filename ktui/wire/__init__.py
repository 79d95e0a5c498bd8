"""The encoding of stored values: envelope, protobuf and JSON, resourceVersion."""
