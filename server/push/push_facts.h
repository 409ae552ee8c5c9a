/*
 * push_facts.h - what labels tell of a process: which container it runs in, and which build it is.
 *
 * Errors     None: what cannot be read, or is not so, is "".
 */
#ifndef ISOSCOPE_PUSH_FACTS_H
#define ISOSCOPE_PUSH_FACTS_H

enum { PUSH_ID_BYTES = 2 * 64 + 1 };

/* As container engines number them: 64 hexadecimal digits. */
void push_container_of(int pid, char out[PUSH_ID_BYTES]);
/* Of its program's file, in hexadecimal digits. */
void push_build_of(int pid, char out[PUSH_ID_BYTES]);

/* The last such number in a text of /proc/PID/cgroup. "": there is none. */
void push_container_in(const char *text, char out[PUSH_ID_BYTES]);
/* The same in a text of /proc/PID/mountinfo: who mounts a container's /etc/hostname keeps it in a
 * folder of that name. */
void push_container_in_mounts(const char *text, char out[PUSH_ID_BYTES]);

#endif
