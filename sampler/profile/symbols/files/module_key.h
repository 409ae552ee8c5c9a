/*
 * module_key.h - by what the same build is known again, in whatever process and under whatever name.
 *
 * A build id; without one, what the kernel says of the file that the process sees: device, inode, size and
 * time.
 *
 * Threads    Any; no state.
 */
#ifndef ISOSCOPE_MODULE_KEY_H
#define ISOSCOPE_MODULE_KEY_H

#include "module_file.h"

struct module_key {
    uint8_t bytes[40];
};

struct module_key module_key_of(const struct module_file *module);
uint64_t module_key_hash(const struct module_key *key);

#endif
