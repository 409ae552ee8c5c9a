/* A folder for a queue of profiles, and the queue in it; of each test its own. */
#ifndef ISOSCOPE_PUSH_FOLDER_H
#define ISOSCOPE_PUSH_FOLDER_H

#include "server/push/push_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static char push_folder[64];

static int make_push_folder(void **state)
{
    (void)state;
    snprintf(push_folder, sizeof(push_folder), "/tmp/push_queue_test.XXXXXX");
    return mkdtemp(push_folder) ? 0 : -1;
}

static int remove_push_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", push_folder);
    return system(command);
}

static struct push_queue *open_queue(size_t bytes_max)
{
    struct push_queue *queue;

    assert_int_equal(push_queue_open(&queue, push_folder, bytes_max), 0);
    return queue;
}

#define IN_A_FOLDER(test)                                                                          \
    cmocka_unit_test_setup_teardown(test, make_push_folder, remove_push_folder)

#endif
