"""What is written to a terminal: colours, rows that fit, a screen, progress."""
