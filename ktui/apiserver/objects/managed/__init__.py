"""metadata.managedFields: who last set which field, for updates (server-side apply is not modelled)."""
