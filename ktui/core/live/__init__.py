"""What the events of a scraped kube-apiserver add up to: windows, routes, findings, the report."""
