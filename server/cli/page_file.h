/*
 * page_file.h - the word `isoscope page-file NAME`: a file of the browser page or of the documentation, as gzip.
 *
 * It is for the Python commands, and in no list: `isoscope view` serves the page without a service,
 * `isoscope docs` opens the documentation.
 */
#ifndef ISOSCOPE_PAGE_FILE_H
#define ISOSCOPE_PAGE_FILE_H

struct inherited;

/* argv[0] is the command's own name. Returns the exit status. */
int page_file_command(int argc, char **argv, const struct inherited *inherited);

#endif
