/*
 * log_line.h - what the command tells its user: one line on stderr, with "isoscope: " in front.
 *
 * stdout belongs to the program that is run, so nothing of ours ever goes there while it runs.
 *
 * Threads    Any thread; a line is one write, so lines never mix.
 * Errors     A stderr that is gone is no error: there is nobody to tell.
 */
#ifndef ISOSCOPE_LOG_LINE_H
#define ISOSCOPE_LOG_LINE_H

void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Without the name in front: lines that other tools look for. */
void log_line_plain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
