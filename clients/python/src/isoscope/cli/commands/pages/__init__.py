"""What commands show, where it is more than a few lines: data in, rows and text out."""
