"""Defaults that kube-apiserver sets on objects before it stores them."""
