"""Files of what the program told: slices, counters, frames."""
