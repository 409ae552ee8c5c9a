/* What /proc tells: mappings out of smaps, memory of a process. */
#include "sampler/profile/facts/proc_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char smaps[] = "5560-5570 r-xp 00001000 08:01 42                     /usr/bin/my cat\n"
                            "Size:                 16 kB\n"
                            "Rss:                  12 kB\n"
                            "VmFlags: rd ex mr mw me\n"
                            "7f00-7f10 rw-p 00000000 00:00 0 \n"
                            "Rss:                   8 kB\n"
                            "7ffc-7ffd rw-p 00000000 00:00 0                      [stack]\n"
                            "Rss:                   4 kB";

static char told[256];

static void note(void *context, const char *path, uint64_t rss_bytes)
{
    size_t at = strlen(told);

    assert_ptr_equal(context, &told);
    snprintf(told + at, sizeof(told) - at, "%s %d;", path, (int)rss_bytes);
}

static void each_mapping_is_told_with_what_it_is_of(void **state)
{
    char path[] = "/tmp/isoscope-smaps-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, smaps, strlen(smaps)), strlen(smaps));
    close(fd);
    told[0] = 0;
    proc_mappings(path, note, &told);
    remove(path);
    assert_string_equal(told, "/usr/bin/my cat 12288; 8192;[stack] 4096;");
}

static void a_file_that_is_not_there_tells_nothing(void **state)
{
    (void)state;
    told[0] = 0;
    proc_mappings("/nowhere/smaps", note, &told);
    assert_string_equal(told, "");
}

static void memory_is_of_the_process_that_is_asked_for(void **state)
{
    struct process_memory own = proc_memory(getpid()), none = proc_memory(-1);

    (void)state;
    assert_true(own.rss_bytes > 0 && own.rss_max_bytes >= own.rss_bytes);
    assert_true(own.own_bytes > 0 && own.own_bytes <= own.rss_bytes);
    assert_true(own.reserved_bytes > 0);
    assert_int_equal(none.rss_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mapping_is_told_with_what_it_is_of),
        cmocka_unit_test(a_file_that_is_not_there_tells_nothing),
        cmocka_unit_test(memory_is_of_the_process_that_is_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
