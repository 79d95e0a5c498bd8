"""From files to records: folders and archives, compression, lines, JSON documents and CSV; bounded."""
