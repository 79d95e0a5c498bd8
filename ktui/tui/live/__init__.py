"""The dashboard over a kube-apiserver that is only scraped: the same modes and keys, over its counters."""
