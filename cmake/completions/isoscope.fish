# Asked of the command itself at the first TAB, so it is never older than that.
isoscope completion fish 2>/dev/null | source
