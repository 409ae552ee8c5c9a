/*
 * elf_file.h - one ELF file: who it is, and its sections.
 *
 * Units      Addresses are ELF virtual ones, as in the file.
 * Ownership  Texts that are handed out live until elf_file_close.
 * Threads    One at a time.
 * Errors     A file may be missing, cut off, foreign or a lie: then there is a reason, or what
 *            cannot be read later is passed over. It is read, never mapped: one that shrinks
 *            meanwhile reads short.
 */
#ifndef ISOSCOPE_ELF_FILE_H
#define ISOSCOPE_ELF_FILE_H

#include "../../../feed/layout.h"

#include <libelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct elf_segment {
    uint64_t address, size, offset, base;
};

/* All give NULL where it cannot be read; *reason then tells why, in static memory. */
struct elf_file *elf_file_open(int root, const char *path, const char **reason); /* see root.h */
struct elf_file *elf_file_open_fd(int fd, const char **reason); /* takes over fd, in any case */
struct elf_file *elf_file_open_vdso(const char **reason);       /* this process's */
/* image: from malloc; taken over, in any case. */
struct elf_file *elf_file_open_image(void *image, size_t bytes, const char **reason);
void elf_file_close(struct elf_file *file); /* NULL is fine */
void elf_file_closep(struct elf_file **file);

/* EM_X86_64, ... */
uint16_t elf_file_machine(struct elf_file *file);
/* Returns its bytes, FEED_BUILD_ID_MAX at most; 0: there is none. */
uint32_t elf_file_build_id(struct elf_file *file, uint8_t out[FEED_BUILD_ID_MAX]);
bool elf_file_is_build(struct elf_file *file, const uint8_t *build_id, uint32_t bytes);
/* Where it really lies, links followed; false: in memory, or it cannot be told. */
bool elf_file_path(const struct elf_file *file, char path[PATH_MAX]);
/* -1: it lies in memory. The file keeps it. */
int elf_file_fd(const struct elf_file *file);
/* The checksum that .gnu_debuglink has of it. Reads all of it; false: that failed. */
bool elf_file_crc32(const struct elf_file *file, uint32_t *out);
/* The bytes of a section and its address; NULL: there is none, or it cannot be read. */
const uint8_t *elf_file_section(struct elf_file *file, const char *name, uint64_t *size,
                                uint64_t *address);
/* The same of one that may be compressed, unpacked: size_max bytes at most. */
const uint8_t *elf_file_unpacked(struct elf_file *file, const char *name, uint64_t size_max,
                                 uint64_t *size);
/* What its executable segments span, [start, end); everything when it does not say. */
void elf_file_code(struct elf_file *file, uint64_t *start, uint64_t *end);
/* Its executable segment, of several the largest: size bytes at address, from offset on in the
 * file; base: where the file begins in memory, the first segment's page. False: there is none. */
bool elf_file_segment(struct elf_file *file, struct elf_segment *out);
/* Copies what the file has in memory at the address, size bytes at most. Returns how many; 0: none
 * of its segments has the address, or it cannot be read. */
size_t elf_file_read(struct elf_file *file, uint64_t address, uint8_t *out, size_t size);
/* It has the full symbol table, not only what other modules may call. */
bool elf_file_has_symtab(struct elf_file *file);
/* It has DWARF: lines and inlined functions. */
bool elf_file_has_dwarf(struct elf_file *file);
/* For libelf and libdw, as long as the file is open. */
Elf *elf_file_elf(struct elf_file *file);
#endif
