"""Read records from files: folders, archives, compression, lines, JSON and CSV, in bounded memory."""
