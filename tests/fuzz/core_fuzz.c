/*
 * core_fuzz.c - any bytes as a core file.
 *
 * Sanitizers judge; and what is told must be sound: frames in modules that there are, a reason for each stack that is not whole.
 */
#include "sampler/feed/cleanup.h"
#include "sampler/remote/stacks/thread_stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_thread(const struct thread_stacks *stacks, const struct stack_thread *thread)
{
    if (thread->depth > STACKS_DEPTH_MAX || (!thread->complete && !thread->why[0]))
        abort();
    for (uint32_t i = 0; i < thread->depth; i++)
        if (thread->frames[i].module != STACKS_NO_MODULE &&
            thread->frames[i].module >= stacks->module_count)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct thread_stacks *stacks = NULL;
    struct refusal why = { "" };
    char path[64];
    int fd = memfd_create("core", MFD_CLOEXEC);

    if (fd < 0 || write(fd, bytes, count) != (ssize_t)count)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (!thread_stacks_of_core(&stacks, path, &why) && !why.text[0])
        abort();
    for (uint32_t i = 0; stacks && i < stacks->thread_count; i++)
        check_thread(stacks, &stacks->threads[i]);
    thread_stacks_free(stacks);
    close(fd);
    return 0;
}
