"""The rows of a table: columns, filter, order, export."""
