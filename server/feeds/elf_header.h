/*
 * elf_header.h - the little of an ELF file that tells whether the sampler can be preloaded into it.
 *
 * Errors     elf_header_read: 0; -ISOSCOPE_SYSTEM when the file cannot be read; -ISOSCOPE_INVALID
 *            when it is no ELF file.
 */
#ifndef ISOSCOPE_ELF_HEADER_H
#define ISOSCOPE_ELF_HEADER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_header {
    bool broken; /* the kernel would not start it; nothing else is said of it */
    int bits;    /* 32 or 64 */
    bool little_endian;
    uint16_t machine;      /* e_machine */
    bool dynamic_loader;   /* has PT_INTERP: the kernel starts a loader, and that one preloads */
    bool musl;             /* the loader is musl's */
    bool go_alone;         /* Go without cgo, built as PIE: it needs no library, libc neither */
    char loader[PATH_MAX]; /* its path; "": there is none */
};

int elf_header_read(struct elf_header *out, const char *path);

/* Of the class, byte order and machine this isoscope was built for. */
bool elf_header_is_native(const struct elf_header *elf);

const char *elf_machine_name(uint16_t machine); /* "another machine" when it is a rare one */
const char *elf_native_name(void);              /* "64-bit x86-64" */

#endif
