/* Files on their way to an engine: in order, bounded, whole, and nobody sends one twice. */
#include "push_folder.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOW_MS = 1700000000 };

static void put(struct push_queue *queue, int64_t begin_ms, const char *bytes)
{
    struct push_profile profile = { .kind = "process_cpu",
                                    .begin_ms = begin_ms,
                                    .end_ms = begin_ms + 10000 };

    push_label_add(&profile.labels, "service_name", "web");
    push_label_add(&profile.labels, "env", "a b");
    assert_int_equal(push_queue_put(queue, &profile, bytes, strlen(bytes)), 0);
}

static void assert_taken(struct push_queue *queue, const char *bytes, bool gone)
{
    struct push_entry entry;

    assert_true(push_queue_take(queue, NOW_MS, &entry));
    assert_int_equal(entry.length, strlen(bytes));
    assert_memory_equal(entry.bytes, bytes, entry.length);
    push_queue_done(queue, &entry, gone);
}

static void the_oldest_goes_first_and_has_its_labels_still(void **state)
{
    struct push_queue *queue = open_queue(1 << 20);
    struct push_entry entry;

    (void)state;
    put(queue, NOW_MS - 1000, "third");
    put(queue, NOW_MS - 3000, "first\n\n\n");
    put(queue, NOW_MS - 2000, "second");
    assert_int_equal(push_queue_waiting(queue), 3);
    assert_taken(queue, "first\n\n\n", false);
    assert_taken(queue, "first\n\n\n", true);
    assert_true(push_queue_take(queue, NOW_MS, &entry));
    assert_string_equal(entry.profile.kind, "process_cpu");
    assert_int_equal(entry.profile.begin_ms, NOW_MS - 2000);
    assert_int_equal(entry.profile.end_ms, NOW_MS + 8000);
    assert_int_equal(entry.profile.labels.count, 2);
    assert_string_equal(entry.profile.labels.list[1].name, "env");
    assert_string_equal(entry.profile.labels.list[1].value, "a b");
    push_queue_done(queue, &entry, true);
    assert_taken(queue, "third", true);
    assert_false(push_queue_take(queue, NOW_MS, &entry));
    push_queue_free(queue);
}

static void what_is_being_sent_nobody_else_takes(void **state)
{
    struct push_queue *one = open_queue(1 << 20), *other = open_queue(1 << 20);
    struct push_entry entry, none;

    (void)state;
    put(one, NOW_MS, "x");
    assert_true(push_queue_take(one, NOW_MS, &entry));
    assert_false(push_queue_take(other, NOW_MS, &none));
    push_queue_done(one, &entry, false);
    assert_taken(other, "x", true);
    push_queue_free(one);
    push_queue_free(other);
}

static void the_oldest_make_room_and_are_counted(void **state)
{
    struct push_queue *queue = open_queue(200);
    char bytes[101];
    struct push_entry entry;

    (void)state;
    memset(bytes, 'x', 100);
    bytes[100] = '\0';
    put(queue, NOW_MS - 1000, "old");
    put(queue, NOW_MS - 500, bytes);
    assert_int_equal(push_queue_dropped(queue), 0);
    put(queue, NOW_MS, bytes);
    assert_int_equal(push_queue_dropped(queue), 2);
    assert_true(push_queue_take(queue, NOW_MS, &entry));
    assert_int_equal(entry.profile.begin_ms, NOW_MS);
    push_queue_done(queue, &entry, true);
    push_queue_free(queue);
}

static void one_that_is_larger_than_all_room_is_dropped_alone(void **state)
{
    struct push_queue *queue = open_queue(100);
    char bytes[101];

    (void)state;
    memset(bytes, 'x', 100);
    bytes[100] = '\0';
    put(queue, NOW_MS, "small");
    put(queue, NOW_MS, bytes);
    assert_int_equal(push_queue_dropped(queue), 1);
    assert_taken(queue, "small", true);
    push_queue_free(queue);
}

static void after_an_hour_it_is_no_use(void **state)
{
    struct push_queue *queue = open_queue(1 << 20);

    (void)state;
    put(queue, NOW_MS - PUSH_AGE_MS_MAX, "old");
    put(queue, NOW_MS - PUSH_AGE_MS_MAX + 1, "just");
    assert_taken(queue, "just", true);
    assert_int_equal(push_queue_aged(queue), 1);
    assert_int_equal(push_queue_waiting(queue), 0);
    push_queue_free(queue);
}

static void write_file(const char *name, const char *text)
{
    char path[300];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", push_folder, name);
    file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void other_files_stay_and_broken_ones_go(void **state)
{
    struct push_queue *queue = open_queue(1 << 20);
    struct push_entry entry;

    (void)state;
    write_file("notes.txt", "mine");
    write_file(".0000001700000-half.profile", "half");
    write_file("0001700000000-0001700000000-process_cpu-1-0.profile", "no labels");
    write_file("0001700000000-x.profile", "");
    assert_false(push_queue_take(queue, NOW_MS, &entry));
    assert_int_equal(push_queue_aged(queue), 1);
    put(queue, NOW_MS, "good");
    assert_taken(queue, "good", true);
    push_queue_free(queue);
}

static void folders_are_made_for_their_owner_alone(void **state)
{
    char path[128];
    struct push_queue *queue;
    struct stat info;

    (void)state;
    snprintf(path, sizeof(path), "%s/a/b", push_folder);
    assert_int_equal(push_queue_open(&queue, path, 1000), 0);
    push_queue_free(queue);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    write_file("file", "");
    snprintf(path, sizeof(path), "%s/file/b", push_folder);
    assert_true(push_queue_open(&queue, path, 1000) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(the_oldest_goes_first_and_has_its_labels_still),
        IN_A_FOLDER(what_is_being_sent_nobody_else_takes),
        IN_A_FOLDER(the_oldest_make_room_and_are_counted),
        IN_A_FOLDER(one_that_is_larger_than_all_room_is_dropped_alone),
        IN_A_FOLDER(after_an_hour_it_is_no_use),
        IN_A_FOLDER(other_files_stay_and_broken_ones_go),
        IN_A_FOLDER(folders_are_made_for_their_owner_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
