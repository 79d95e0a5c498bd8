"""The state of a scraped kube-apiserver: its events, folded into windows, routes, findings, a report."""
