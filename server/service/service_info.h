/*
 * service_info.h - the file that tells tools where the service is: {"uri":"http://..."}.
 *
 * Tools wait for the file to appear and then read it, so it appears whole: a new file takes the
 * old one's name. What is no regular file (a pipe that somebody reads, /dev/stdout) is written in
 * place.
 *
 * Errors     0, -ISOSCOPE_SYSTEM (errno tells), -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_SERVICE_INFO_H
#define ISOSCOPE_SERVICE_INFO_H

/* Could it be written? Leaves nothing behind. */
int service_info_check(const char *path);
/* What an errno of these means. */
const char *service_info_problem(int error);
/* uri: needs no escapes in JSON. */
int service_info_write(const char *path, const char *uri);

#endif
