"""What stored bytes mean: the envelope, protobuf and JSON, splicing resourceVersion."""
