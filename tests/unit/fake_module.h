/*
 * fake_module.h - a fixture of cmocka's: a folder for each test, and the path of a module in it.
 *
 *     cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)
 */
#ifndef FAKE_MODULE_H
#define FAKE_MODULE_H

#include "fake_elf.h"

static char directory[64], path[128];

static int make_directory(void **state)
{
    (void)state;
    fake_directory(directory);
    snprintf(path, sizeof(path), "%s/module", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    fake_directory_remove(directory);
    return 0;
}

#endif
