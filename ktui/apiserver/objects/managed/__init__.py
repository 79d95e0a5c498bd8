"""metadata.managedFields: who last set which field, by updates and by server-side apply."""
