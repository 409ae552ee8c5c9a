/*
 * settings_file.h - settings of processes and programs as lines of text.
 *
 *   isoscope settings 1 BOOT
 *   process PID START on|off PERIOD
 *   program on|off PERIOD NAME
 *
 * BOOT is the kernel's boot_id: after another start of the machine no process is the same. PERIOD 0: that of
 * all. The file is whole or not there (rename).
 *
 * Threads    Any; no state.
 * Errors     As errno; a line that is none is left out and told.
 */
#ifndef ISOSCOPE_SETTINGS_FILE_H
#define ISOSCOPE_SETTINGS_FILE_H

#include "../../sampler/profile/control.h"

#include <stddef.h>
#include <stdint.h>

enum { KEPT_PROGRAMS_MAX = 64, KEPT_PROCESSES_MAX = 4096, KEPT_PROGRAM_BYTES = 512 };

struct kept_process {
    int32_t pid;
    uint64_t start; /* process_start */
    struct process_settings settings;
};

struct kept_program {
    char name[KEPT_PROGRAM_BYTES];
    struct process_settings settings;
};

struct settings_lists {
    struct kept_process *processes; /* KEPT_PROCESSES_MAX, as the next */
    struct kept_program *programs;
    size_t process_count, program_count;
};

/* Appends to lists, of which the room is the caller's. Processes that have ended are left out. Returns the
 * number of the first line that is none; 0: there is none; -1 and errno: ENOENT where there is no file. */
int settings_file_read(const char *path, struct settings_lists *lists);
/* 0, or -1 and errno. */
int settings_file_write(const char *path, const struct settings_lists *lists);

#endif
