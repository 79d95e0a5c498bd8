"""Decode one record of a log, in the formats of apiservers, etcd and cloud providers."""
