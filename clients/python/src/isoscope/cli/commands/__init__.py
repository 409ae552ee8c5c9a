"""One file a command, and what several of them share."""
