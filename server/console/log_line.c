#include "log_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 };

static void write_line(char *line, size_t length)
{
    if (length > LINE_BYTES - 2)
        length = LINE_BYTES - 2;
    line[length++] = '\n';

    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written; /* nobody to tell */
}

void log_line(const char *format, ...)
{
    char line[LINE_BYTES] = "isoscope: ";
    size_t start = strlen(line);
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(line + start, sizeof(line) - start, format, arguments);
    va_end(arguments);
    if (length >= 0)
        write_line(line, start + (size_t)length);
}

void log_line_plain(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (length >= 0)
        write_line(line, (size_t)length);
}
