#include "sampler/capture/system/maps.h"

#include "sampler/capture/modules/modules.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

static bool parse(const char *text, struct maps_line *out)
{
    static char line[256];

    strncpy(line, text, sizeof line - 1);
    return maps_parse(line, out);
}

static void a_line_is_taken_apart(void **state)
{
    struct maps_line line;

    (void)state;
    assert_true(
        parse("7f01c2a00000-7f01c2a28000 r-xp 00001000 fe:01 1312      /usr/lib/a b.so", &line));
    assert_int_equal(line.start, 0x7f01c2a00000);
    assert_int_equal(line.end, 0x7f01c2a28000);
    assert_int_equal(line.offset, 0x1000);
    assert_int_equal(line.dev_major, 0xfe);
    assert_int_equal(line.dev_minor, 1);
    assert_int_equal(line.inode, 1312);
    assert_true(line.readable);
    assert_true(line.executable);
    assert_false(line.shared);
    assert_string_equal(line.path, "/usr/lib/a b.so");
    assert_true(
        parse("7f01c2a00000-7f01c2a10000 rw-s 00000000 00:01 2049 /memfd:a (deleted)", &line));
    assert_true(line.shared);
}

static void a_mapping_without_a_file_has_an_empty_path(void **state)
{
    struct maps_line line;

    (void)state;
    assert_true(parse("00400000-00401000 ---p 00000000 00:00 0 ", &line));
    assert_string_equal(line.path, "");
    assert_false(line.readable);
    assert_false(line.executable);
}

static struct jit_areas areas;

static void take(const char *text)
{
    struct maps_line line;

    assert_true(parse(text, &line));
    jit_areas_take(&areas, &line);
}

static void executable_memory_of_no_module_is_a_jits_with_what_is_set_aside_behind_it(void **state)
{
    (void)state;
    areas = (struct jit_areas){ .wanted = true };
    take("10000-11000 ---p 00000000 00:00 0 ");
    take("11000-12000 rwxp 00000000 00:00 0 ");
    take("12000-13000 r-xp 00000000 00:00 0 ");
    take("13000-20000 ---p 00000000 00:00 0 ");
    take("20000-21000 r-xp 00042000 fe:01 1312      /usr/bin/node");
    take("21000-22000 rw-p 00000000 00:00 0 ");
    take("22000-23000 ---p 00000000 00:00 0 ");
    take("30000-31000 r-xp 00000000 00:00 0           [anon:code]");
    take("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0           [vsyscall]");
    assert_int_equal(areas.count, 3);
    assert_int_equal(areas.areas[0].start, 0x11000);
    assert_int_equal(areas.areas[0].end, 0x20000);
    /* A piece of a file has its names. */
    assert_int_equal(areas.areas[1].start, 0x20000);
    assert_int_equal(areas.areas[1].end, 0x21000);
    assert_int_equal(areas.areas[1].inode, 1312);
    assert_int_equal(areas.areas[1].offset, 0x42000);
    assert_int_equal(areas.areas[2].start, 0x30000);
    assert_int_equal(areas.areas[2].end, 0x31000);
}

static void without_a_perf_map_of_its_own_no_memory_of_a_process_is_a_jits(void **state)
{
    const int32_t pid = 2000000000 + getpid(); /* above every pid */
    struct timespec now, long_ago = { 0, 0 };
    char path[64];
    int fd;

    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &now);
    jit_areas_begin(&areas, &(struct jit_process){ 0, pid, now.tv_sec * 1000000 });
    assert_false(areas.wanted);

    snprintf(path, sizeof path, "/tmp/perf-%d.map", pid);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    jit_areas_begin(&areas, &(struct jit_process){ 0, pid, now.tv_sec * 1000000 });
    assert_true(areas.wanted);

    /* An earlier process had the same pid. */
    futimens(fd, (struct timespec[]){ long_ago, long_ago });
    jit_areas_begin(&areas, &(struct jit_process){ 0, pid, now.tv_sec * 1000000 });
    assert_false(areas.wanted);
    close(fd);
    unlink(path);
}

/* A piece of this program's code, mapped once more at another place, as V8 does. */
static void a_piece_of_a_file_elsewhere_is_none_of_its_module(void **state)
{
    static struct modules modules;
    struct feed_writer writer;
    const struct code_map *map;
    const struct code_range *own;
    void *page;
    int memfd, exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    (void)state;
    page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, exe, 0x1000);
    assert_ptr_not_equal(page, MAP_FAILED);
    assert_int_equal(feed_writer_create(&writer, &memfd, getpid(), 1), 0);
    modules_new(&modules);
    modules_refresh(&modules, &writer);
    map = atomic_load(&modules.maps.current);
    own = code_map_find(map, (uint64_t)(uintptr_t)take);
    assert_non_null(own);
    assert_true(own->number);
    assert_null(code_map_find(map, (uint64_t)(uintptr_t)page));
    modules_free(&modules);
    feed_writer_destroy(&writer);
    munmap(page, 4096);
    close(memfd);
    close(exe);
}

static void other_text_is_refused(void **state)
{
    struct maps_line line;

    (void)state;
    assert_false(parse("", &line));
    assert_false(parse("00400000", &line));
    assert_false(parse("00400000-00401000 r-xp", &line));
    assert_false(parse("Size:                132 kB", &line));
}

static void the_mapping_around_an_address_is_found(void **state)
{
    uint64_t start, end, here = (uint64_t)&start;

    (void)state;
    assert_true(maps_find(here, &start, &end));
    assert_true(start <= here && here < end);
    assert_false(maps_find(0x10, &start, &end));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_taken_apart),
        cmocka_unit_test(a_mapping_without_a_file_has_an_empty_path),
        cmocka_unit_test(executable_memory_of_no_module_is_a_jits_with_what_is_set_aside_behind_it),
        cmocka_unit_test(without_a_perf_map_of_its_own_no_memory_of_a_process_is_a_jits),
        cmocka_unit_test(a_piece_of_a_file_elsewhere_is_none_of_its_module),
        cmocka_unit_test(other_text_is_refused),
        cmocka_unit_test(the_mapping_around_an_address_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
