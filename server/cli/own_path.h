/*
 * own_path.h - where this command is, for clients that it becomes and that start it again.
 */
#ifndef ISOSCOPE_OWN_PATH_H
#define ISOSCOPE_OWN_PATH_H

/* Sets ISOSCOPE_COMMAND, unless the user has set it. */
void own_path_tell(void);

#endif
