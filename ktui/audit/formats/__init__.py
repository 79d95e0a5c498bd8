"""What one record of a log says, in each of the formats in which apiservers, etcds and clouds write them."""
