/* What stands in the way of a session file, in the words that users get. */
#include "sampler/profile/saved.h"

#include "fake_elf.h"
#include "session_craft.h"
#include "skip_because.h"
#include "sampler/profile/naming/functions.h"
#include "sampler/profile/naming/registry.h"
#include "sampler/profile/session/session_file.h"
#include "sampler/profile/store/names.h"

#include <sys/stat.h>

#define KIND_PIECE(kind)                                                                           \
    "{\"begins\":true,\"samples\":1,\"nodes\":1,\"frames\":1,\"cpuUnit\":1,\"sources\":[[1,0]],"   \
    "\"minUs\":7,\"maxUs\":7,\"counts\":[[0,0,0,1]]" kind "}"

struct fixture {
    char directory[64], session[128], other[128];
};

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    fake_directory(fixture->directory);
    snprintf(fixture->session, sizeof(fixture->session), "%s/s.isoscope", fixture->directory);
    snprintf(fixture->other, sizeof(fixture->other), "%s/t.isoscope", fixture->directory);
    *state = fixture;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    unlink(fixture->session);
    unlink(fixture->other);
    rmdir(fixture->directory);
    free(fixture);
    return 0;
}

static void a_file_that_is_no_session_is_told_what_it_is(void **state)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *reason;
    } cases[] = {
        { "", 0, "the file is empty" },
        { "\x1f\x8b\x08", 3, "it ends within its head: it is no session" },
        { "\x1f\x8b\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20,
          "it is packed by gzip, as pprof's profiles are, and no isoscope session" },
        { "not a session at all", 20, "it is no isoscope session" },
        { "\x89ISO\r\n\x1a\n\x02\0\0\0\0\0\0\0", 16,
          "it is of version 2, and this isoscope reads up to version 1: use a newer isoscope" },
        { "\x89ISO\r\n\x1a\n\x01\0\0\0\x01\0\0\0", 16, "its head is damaged" },
        { "\x89ISO\r\n\x1a\n\x01\0\0\0\0\0\0\0", 16, "it has no complete block" },
        { "\x89ISO\n\x1a\n\x01\0\0\0\0\0\0\0\0", 16, "it is no isoscope session" },
    };
    struct fixture *fixture = *state;
    struct saved_problem problem;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_false(opens(fixture->session, cases[i].bytes, cases[i].count, &problem));
        assert_string_equal(problem.reason, cases[i].reason);
    }
}

static void a_folder_or_nothing_at_the_path_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct saved_problem problem;

    assert_null(open_saved(fixture->directory, &problem));
    assert_string_equal(problem.reason, "it is no file");
    assert_null(open_saved("/nonexistent/s.isoscope", &problem));
    assert_string_equal(problem.reason, "No such file or directory");
}

/* A function without a place of its own. */
#define FUNCTION(number, module, name, full_name, file)                                            \
    "{\"functions\":{\"number\":[" number "],\"module\":[" module                                  \
    "],\"start\":[null],\"size\":[0],\"byNumber\":[1],\"name\":[" name                             \
    "],\"fullName\":[" full_name "],\"rawName\":[null],\"file\":[" file "],\"line\":[0]}}"

/* Blocks that are well and whole, and say what cannot be. */
static void tables_that_cannot_be_are_told(void **state)
{
    static const struct {
        const char *type, *text, *reason;
    } cases[] = {
        { "SETT", "[]", "it is no JSON object" },
        { "SETT", "{\"periodUs\":\"x\"}", "'periodUs' is no number from 1 to 4294967295" },
        { "SETT", "{\"periodUs\":-1}", "'periodUs' is no number from 1 to 4294967295" },
        { "SETT", "{\"enabled\":1}", "'enabled' is neither true nor false" },
        { "SETT", "{\"cpu\":7}", "'cpu' is no object" },
        { "PROC", "{\"processes\":{}}", "'processes' is no list" },
        { "PROC", "{\"processes\":[7]}", "it is no JSON object" },
        { "PROC", "{\"processes\":[{\"pid\":1}]}", "'id' is missing" },
        { "PROC", "{\"processes\":[{\"id\":1,\"exe\":[]}]}", "'exe' is no text" },
        { "MODS", "{\"modules\":[{\"number\":0,\"path\":\"/m\"}]}",
          "'number' is no number from 1 to 65535" },
        { "MODS", "{\"modules\":[{\"number\":65536,\"path\":\"/m\"}]}",
          "'number' is no number from 1 to 65535" },
        { "MODS", "{\"modules\":[{\"number\":2}]}", "'number' or 'path' is missing" },
        { "MODS", "{\"modules\":[{\"number\":2,\"path\":\"/m\",\"buildId\":\"abc\"}]}",
          "'buildId' is no number of at most 20 bytes in hex" },
        { "MODS", "{\"modules\":[{\"number\":1,\"path\":\"/n\"}]}",
          "module 1 becomes another one" },
        { "THRD", "{\"threads\":[[1,6,9,\"t\"]]}",
          "a thread has no name, or process 6 is not there" },
        { "THRD", "{\"threads\":[[1,5,9]]}", "a thread has no name, or process 5 is not there" },
        { "THRD", "{\"threads\":[[1,5]]}",
          "'threads' is no number from -2147483648 to 2147483647" },
        { "NAME", "{\"names\":[[0,\"x\"]]}", "'names' is no number from 1 to 1048575" },
        { "NAME", "{\"names\":[[1048576,\"x\"]]}", "'names' is no number from 1 to 1048575" },
        { "NAME", "{\"names\":[[1,\"x\"],[1,\"y\"]]}",
          "name 1 is there already, or there is no room" },
        { "NAME", "{\"names\":[[1,7]]}", "'names' has one without a text" },
        { "FUNC", "{\"files\":[[1,7]]}", "'files' has one without a path" },
        { "FUNC", "{\"functions\":{\"number\":[1]}}",
          "'functions': 'module' is not as long as 'number'" },
        { "FUNC", FUNCTION("1", "1", "7", "null", "0"), "'name' is no text" },
        { "FUNC", FUNCTION("1", "1", "null", "null", "0"), "'name' is no text" },
        { "FUNC", FUNCTION("1", "1", "\"f\"", "7", "0"), "'fullName' is no text" },
        { "FUNC", FUNCTION("1", "2", "\"f\"", "null", "0"),
          "a function is of module 2, which is not there" },
        { "FUNC", FUNCTION("1", "1", "\"f\"", "null", "3"),
          "a function has no number, or no file 3 is there" },
        { "FUNC", FUNCTION("0", "1", "\"f\"", "null", "0"),
          "a function has no number, or no file 0 is there" },
        { "FUNC", "{\"same\":[[1,2]]}", "'same' has functions 1 and 2, which cannot be one" },
        { "FACT", "{\"process\":6}", "process 6 is not there" },
        { "FACT", "{\"process\":5,\"mappings\":[[\"/m\",1]]}",
          "it goes on with mappings of a process without memory" },
        { "FACT", "{\"process\":5,\"memory\":{\"rss\":1},\"mappings\":[[7,1]]}",
          "'mappings' has one without a path" },
        { "PIEC", "{\"begins\":true,\"samples\":0}",
          "'samples', 'cpuUnit' or its times are out of range" },
        { "PIEC", "{\"begins\":true,\"samples\":1,\"cpuUnit\":1}",
          "'counts' are not those of 1 samples" },
        { "PIEC", "{\"begins\":true,\"nodes\":65536}", "its chunk has more than 65536 'nodes'" },
        { "PIEC", "{\"samples\":1}", "it goes on with a chunk, and none is there" },
        { "PIEC", "{\"begins\":true,\"samples\":99999}", "'samples' is no number from 0 to 65536" },
        { "HEAD", "{\"startUs\":1}", NULL },
    };
    struct fixture *fixture = *state;
    struct saved_problem problem;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct craft craft;
        bool opened;

        craft_begin(&craft);
        craft_json(&craft, "HEAD", HEAD);
        craft_json(&craft, "PROC", PROCESS);
        craft_json(&craft, "MODS", MODULE);
        craft_json(&craft, cases[i].type, cases[i].text);
        craft_json(&craft, "THRD", THREAD);
        opened = opens(fixture->session, craft.file.data, craft.file.count, &problem);
        assert_int_equal(opened, !cases[i].reason);
        if (!opened)
            assert_block_reason(cases[i].type, cases[i].reason, &problem);
        craft_end(&craft);
    }
}

/* The first of two files has the last number there is; the second one's are numbered behind it. */
static void what_there_is_no_room_for_is_told(void **state)
{
    static const struct {
        const char *type, *first, *second, *reason;
    } cases[] = {
        { "MODS", "{\"modules\":[{\"number\":65535,\"path\":\"/last\"}]}",
          "{\"modules\":[{\"number\":2,\"path\":\"/more\"}]}",
          "there is no room for another module" },
        { "NAME", "{\"names\":[[1048575,\"last\"]]}", "{\"names\":[[1,\"more\"]]}",
          "name 1 is there already, or there is no room" },
        { "FUNC", "{\"files\":[[1048575,\"/last\"]]}", "{\"files\":[[1,\"/more\"]]}",
          "there is no room for another file's name" },
        { "FUNC", FUNCTION("1048575", "1", "\"last\"", "null", "0"),
          FUNCTION("1", "1", "\"more\"", "null", "0"), "there is no room for another function" },
    };
    struct fixture *fixture = *state;
    const char *files[] = { fixture->session, fixture->other };

    _Static_assert(MODULES_MAX == 65535 && NAMES_MAX == 1048576 && FUNCTIONS_MAX == 1048576,
                   "the last numbers are others");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct saved_problem problem;
        struct profile *saved;

        for (int file = 0; file < 2; file++) {
            struct craft craft;

            craft_begin(&craft);
            craft_json(&craft, "HEAD", HEAD);
            craft_json(&craft, "MODS", MODULE);
            craft_json(&craft, cases[i].type, file ? cases[i].second : cases[i].first);
            write_bytes(files[file], craft.file.data, craft.file.count);
            craft_end(&craft);
        }
        assert_int_equal(
            profile_open_saved(&saved, &(struct saved_options){ 0 }, files, 2, &problem),
            -ISOSCOPE_DAMAGED);
        assert_int_equal(problem.file, 1);
        assert_block_reason(cases[i].type, cases[i].reason, &problem);
    }
}

/* Its times are before the other file's clock began. */
static void times_that_would_be_before_0_are_told(void **state)
{
    struct fixture *fixture = *state;
    const char *files[] = { fixture->session, fixture->other };
    const char *heads[] = { "{\"startUs\":1,\"wallStartUs\":1}",
                            "{\"startUs\":100,\"wallStartUs\":1}" };
    struct saved_problem problem;
    struct profile *saved;

    for (int file = 0; file < 2; file++) {
        struct craft craft;

        craft_begin(&craft);
        craft_json(&craft, "HEAD", heads[file]);
        craft_json(&craft, "PIEC", PIECE);
        write_bytes(files[file], craft.file.data, craft.file.count);
        craft_end(&craft);
    }
    assert_int_equal(profile_open_saved(&saved, &(struct saved_options){ 0 }, files, 2, &problem),
                     -ISOSCOPE_DAMAGED);
    assert_string_equal(problem.reason, "block 'PIEC': its times, aligned, are before 0");
}

/* One sample more, in another piece or in a piece of another kind. */
static void pieces_that_cannot_be_are_told(void **state)
{
    static const char stranger[] =
        "{\"begins\":true,\"samples\":1,\"cpuUnit\":1,\"sources\":[[9,3]],\"counts\":[[0,0,0,1]]}";
    static const char far_apart[] =
        "{\"begins\":true,\"samples\":1,\"cpuUnit\":1,\"sources\":[[1,0]],\"counts\":[[0,0,0,1]],"
        "\"minUs\":1,\"maxUs\":4294967297}";
    static const struct {
        const char *piece, *type, *reason;
    } cases[] = {
        { NULL, "SMPL", "block 'SMPL' has no 'PIEC' before it" },
        { PIECE, "THRD", "block 'PIEC' is followed by 'THRD', and not by its samples" },
        { stranger, "SMPL", "block 'PIEC': thread 9 or tag 3 is not there" },
        { far_apart, "SMPL", "block 'PIEC': its chunk's times are too far apart" },
        { PIECE, NULL, NULL }, /* cut off with its samples */
    };
    struct fixture *fixture = *state;
    struct saved_problem problem;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct craft craft;

        craft_begin(&craft);
        craft_json(&craft, "HEAD", HEAD);
        craft_json(&craft, "PROC", PROCESS);
        craft_json(&craft, "THRD", THREAD);
        if (cases[i].piece)
            craft_json(&craft, "PIEC", cases[i].piece);
        if (cases[i].type)
            craft_json(&craft, cases[i].type, THREAD);
        assert_int_equal(opens(fixture->session, craft.file.data, craft.file.count, &problem),
                         !cases[i].reason);
        if (cases[i].reason)
            assert_string_equal(problem.reason, cases[i].reason);
        craft_end(&craft);
    }
}

/* Whose content is looked at only when somebody asks. */
static void pieces_of_other_kinds_are_checked_as_those_of_time(void **state)
{
    static const struct {
        const char *piece, *type, *reason;
    } cases[] = {
        { KIND_PIECE(""), "KSMP", "block 'KPIE': 'kind' is missing" },
        { KIND_PIECE(",\"kind\":\"lock\""), "SMPL", "block 'SMPL' has no 'PIEC' before it" },
        { NULL, "KSMP", "block 'KSMP' has no 'KPIE' before it" },
        { KIND_PIECE(",\"kind\":\"lock\""), "THRD",
          "block 'KPIE' is followed by 'THRD', and not by its samples" },
        { "{\"kind\":\"alloc\",\"samples\":1}", "KSMP",
          "block 'KPIE': it goes on with a chunk, and none is there" },
        { KIND_PIECE(",\"kind\":\"wait\""), "KSMP", NULL },
        { "{\"kind\":\"faults of a later time\"}", "KSMP", NULL },
        { KIND_PIECE(",\"kind\":\"live\""), NULL, NULL }, /* cut off with its samples */
    };
    struct fixture *fixture = *state;
    struct saved_problem problem;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct craft craft;

        craft_begin(&craft);
        craft_json(&craft, "HEAD", HEAD);
        craft_json(&craft, "PROC", PROCESS);
        craft_json(&craft, "THRD", THREAD);
        if (cases[i].piece)
            craft_bytes(&craft, "KPIE", BLOCK_FRAME_OWN, cases[i].piece, strlen(cases[i].piece));
        if (cases[i].type)
            craft_bytes(&craft, cases[i].type,
                        *cases[i].type == 'T' ? BLOCK_FRAME_TABLES : BLOCK_FRAME_OWN, THREAD,
                        strlen(THREAD));
        assert_int_equal(opens(fixture->session, craft.file.data, craft.file.count, &problem),
                         !cases[i].reason);
        if (cases[i].reason)
            assert_string_equal(problem.reason, cases[i].reason);
        craft_end(&craft);
    }
}

static void more_sources_than_a_chunk_may_have_are_told(void **state)
{
    static const char begin[] = "{\"begins\":true,\"samples\":1,\"cpuUnit\":1,\"sources\":[";
    struct fixture *fixture = *state;
    struct saved_problem problem;
    struct bytes text = { 0 };
    struct craft craft;

    bytes_put(&text, begin, strlen(begin));
    for (int i = 0; i <= 65536; i++)
        bytes_put(&text, i ? ",[1,0]" : "[1,0]", i ? 6 : 5);
    bytes_put(&text, "]}", 2);
    craft_begin(&craft);
    craft_json(&craft, "HEAD", HEAD);
    craft_bytes(&craft, "PIEC", BLOCK_FRAME_TABLES, text.data, text.count);
    assert_false(opens(fixture->session, craft.file.data, craft.file.count, &problem));
    assert_string_equal(problem.reason, "block 'PIEC': 'sources' are more than 65536");
    craft_end(&craft);
    bytes_free(&text);
}

/* A block that is not first where it must be, is no JSON, or is packed by nobody; what a later version
 * has is passed over. */
static void blocks_that_cannot_be_are_told(void **state)
{
    static const struct {
        const char *head, *type, *text, *reason;
        bool stored;
    } cases[] = {
        { NULL, "SETT", "{}", "its first block is no 'HEAD'", false },
        { "{\"command\":[7]}", NULL, NULL, "block 'HEAD': 'command' is no list of texts", false },
        { HEAD, "SETT", "{\"a\" 1}", "block 'SETT' is no JSON: ':' expected near '1'", false },
        { HEAD, "SETT", "not packed", "block 'SETT' cannot be unpacked", true },
        { HEAD, "SRCE", "not packed", "block 'SRCE' cannot be unpacked", true },
        { HEAD, "LATR", "what later versions have", NULL, true },
    };
    struct fixture *fixture = *state;
    struct saved_problem problem;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct craft craft;

        craft_begin(&craft);
        if (cases[i].head)
            craft_json(&craft, "HEAD", cases[i].head);
        if (cases[i].stored)
            craft_stored(&craft, cases[i].type, cases[i].text);
        else if (cases[i].type)
            craft_json(&craft, cases[i].type, cases[i].text);
        assert_int_equal(opens(fixture->session, craft.file.data, craft.file.count, &problem),
                         !cases[i].reason);
        if (cases[i].reason)
            assert_string_equal(problem.reason, cases[i].reason);
        craft_end(&craft);
    }
}

static void damage_within_blocks_is_told_with_the_block(void **state)
{
    struct fixture *fixture = *state;
    struct saved_problem problem;
    struct craft craft;
    size_t at;

    craft_begin(&craft);
    craft_json(&craft, "HEAD", HEAD);
    at = craft.file.count;
    craft_json(&craft, "S\x01TT", "{}");
    craft.file.data[craft.file.count - 1] ^= 1;
    assert_false(opens(fixture->session, craft.file.data, craft.file.count, &problem));
    assert_string_equal(problem.reason, "block 'S?TT' is damaged: its checksum differs");
    assert_int_equal(problem.position, at);
    craft.file.data[at] ^= 1;
    assert_false(opens(fixture->session, craft.file.data, craft.file.count, &problem));
    assert_string_equal(problem.reason, "the head of a block is damaged");
    assert_int_equal(problem.position, at);
    craft_end(&craft);
}

/* Between the look at its length and the look at what is in it. */
static void a_file_that_becomes_shorter_or_cannot_be_read_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct saved_problem problem;
    struct session_file file;
    struct bytes stored = { 0 };
    struct block_place place;
    struct craft craft;

    craft_begin(&craft);
    craft_json(&craft, "HEAD", HEAD);
    craft_json(&craft, "SETT", "{}");
    write_bytes(fixture->session, craft.file.data, craft.file.count);
    assert_int_equal(session_file_open(&file, fixture->session, &problem), 0);
    assert_int_equal(session_file_next(&file, &place, &problem), 1);
    assert_int_equal(truncate(fixture->session, SESSION_HEAD_BYTES + BLOCK_HEAD_BYTES + 1), 0);
    assert_int_equal(session_file_read(&file, &place, &stored, &problem), -ISOSCOPE_DAMAGED);
    assert_string_equal(problem.reason,
                        "block 'HEAD' cannot be read: it is shorter than its length says");
    assert_int_equal(session_file_next(&file, &place, &problem), -ISOSCOPE_DAMAGED);
    assert_string_equal(problem.reason,
                        "a block's head cannot be read: it is shorter than its length says");
    session_file_close(&file);
    assert_int_equal(session_file_next(&file, &place, &problem), -ISOSCOPE_DAMAGED);
    assert_string_equal(problem.reason, "a block's head cannot be read: Bad file descriptor");
    bytes_free(&stored);
    craft_end(&craft);
}

/* Files of the kernel have a page's length, whatever is in them. */
static void a_head_that_is_not_there_is_told(void **state)
{
    static const char path[] = "/sys/devices/system/cpu/online";
    struct saved_problem problem;
    struct stat there;

    (void)state;
    if (stat(path, &there) < 0 || there.st_size < SESSION_HEAD_BYTES)
        skip_because("the kernel has no such file here");
    assert_null(open_saved(path, &problem));
    assert_string_equal(problem.reason,
                        "its head cannot be read: it is shorter than its length says");
}

/* Columns of one sample with one node and frame, each value as the case has it. */
struct sample_case {
    uint64_t columns[16];
    const char *reason;
};

static void craft_samples(struct craft *craft, enum sample_kind kind, size_t count,
                          const struct sample_case *one)
{
    static const char locks[] = KIND_PIECE(",\"kind\":\"lock\"");
    bool time = kind == SAMPLES_OF_TIME;
    struct bytes columns = { 0 };

    craft_json(craft, "HEAD", HEAD);
    craft_json(craft, "PROC", PROCESS);
    craft_json(craft, "MODS", MODULE);
    craft_json(craft, "THRD", THREAD);
    if (time)
        craft_json(craft, "PIEC", PIECE);
    else
        craft_bytes(craft, "KPIE", BLOCK_FRAME_OWN, locks, strlen(locks));
    put_columns(one->columns, count, &columns);
    craft_bytes(craft, time ? "SMPL" : "KSMP", time ? BLOCK_FRAME_CHUNK : BLOCK_FRAME_OWN,
                columns.data, columns.count);
    bytes_free(&columns);
}

static void look_at_samples(struct fixture *fixture, enum sample_kind kind, size_t count,
                            const struct sample_case *one)
{
    struct snapshot *snapshot = NULL;
    struct saved_problem problem;
    struct profile *saved;
    struct craft craft;
    int error;

    craft_begin(&craft);
    craft_samples(&craft, kind, count, one);
    write_bytes(fixture->session, craft.file.data, craft.file.count);
    craft_end(&craft);
    saved = open_saved(fixture->session, &problem);
    if (!saved)
        fail_msg("%s: %s", one->reason ? one->reason : "all is well", problem.reason);
    error = snapshot_take(&snapshot, saved, &(struct snapshot_window){ .kind = kind });
    assert_int_equal(error, one->reason ? -ISOSCOPE_DAMAGED : 0);
    assert_int_equal(saved_damage(saved, &problem), one->reason != NULL);
    if (one->reason)
        assert_block_reason(kind == SAMPLES_OF_TIME ? "SMPL" : "KSMP", one->reason, &problem);
    snapshot_free(snapshot);
    profile_free(saved);
}

/* What stands in the way is found when samples are looked at, and kept. */
static void samples_that_cannot_be_are_told_when_somebody_looks(void **state)
{
    static const struct sample_case cases[] = {
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0 }, NULL },
        { { 2, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0 }, "a frame is of a module that is not there" },
        { { 1, UINT64_MAX - 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0 },
          "a frame's offset is out of range" },
        { { 1, 2, 1, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0 }, "a node's parent is not before it" },
        { { 1, 2, UINT64_MAX - 1, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0 },
          "a node's parent is not before it" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 4, 0 }, "a callee's frame is not there" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0 }, "a callee's frame is not there" },
        { { 1, 2, 0, 1, 0, 2, 0, 0, 0, 0, 1, 2, 0 }, "a callee is not there" },
        { { 1, 2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 2, 0 }, "a sample's source is not there" },
        { { 1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 0 }, "a sample's CPU time is out of range" },
        { { 1, 2, 0, 0, 0, UINT64_MAX - 1, 0, 0, 0, 0, 1, 2, 0 },
          "a sample's CPU time is out of range" },
        { { 1, 2, 0, 0, 0, 2, 2, 0, 0, 0, 1, 2, 0 }, "a sample's time is out of range" },
        { { 1, 2, 0, 0, 0, 2, UINT64_MAX - 1, 0, 0, 0, 1, 2, 0 },
          "a sample's time is out of range" },
        { { 1, 2, 0, 0, 0, 2, 0, 1, NO_VALUE, 0, 1, 2, 0 }, "a sample's caller is not there" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 4, 0, 1, 2, 0 }, "a sample's caller is not there" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 1, 0, 1, 2, 0 }, "a sample's caller is not there" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 1, NO_VALUE, 2, 0 }, "a sample's leaf is not there" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 2, 2, 0 }, "a callee is not there" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 2, 0 }, "its columns are too short" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 300 }, "its columns are too long" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, NO_VALUE }, "its columns are too short" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        look_at_samples(*state, SAMPLES_OF_TIME, 13, &cases[i]);
}

static void samples_of_other_kinds_have_more_that_cannot_be(void **state)
{
    static const struct sample_case cases[] = {
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0, 256, 77, 0 }, NULL },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0, UINT32_MAX, 0, 127 }, NULL },
        { { 1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 0, 1, 1, 1 }, "a sample's weight is out of range" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0, UINT64_C(1) << 32, 1, 1 },
          "a sample's objects are out of range" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0, 1, 1 << 24, 1 },
          "a sample's holder is out of range" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0, 1, 1, NO_VALUE }, "its columns are too short" },
        { { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0, 1, 1, 300 }, "its columns are too long" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        look_at_samples(*state, SAMPLES_OF_LOCKS, 16, &cases[i]);
    look_at_samples(*state, SAMPLES_OF_LOCKS, 13,
                    &(struct sample_case){ { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0 },
                                           "its columns are not whole" });
}

/* A chain of one place: how many, its module, offset, length, function, line, whether inlined, its
 * file. */
static void chains_that_cannot_be_are_told(void **state)
{
    static const struct {
        uint64_t columns[8];
        const char *reason;
    } cases[] = {
        { { 1, 1, 2, 1, 0, 2, 0, 0 }, NULL },
        { { 1, 2, 2, 1, 0, 2, 0, 0 }, "a chain is of a module that is not there" },
        { { 1, 1, 1, 1, 0, 2, 0, 0 }, "a chain's offset or length is out of range" },
        { { 1, 1, 2, 0, 0, 2, 0, 0 }, "a chain's offset or length is out of range" },
        { { 1, 1, 2, 1, 9, 2, 0, 0 }, "a chain has a function that is not there" },
        { { 1, 1, 2, 1, 0, 1, 0, 0 }, "a line of a chain is out of range" },
        { { 1, 1, 2, 1, 0, 2, 2, 0 }, "a line of a chain is out of range" },
        { { 1, 1, 2, 1, 0, 2, 0, 9 }, "a chain has a file that is not there" },
        { { 1, 1, 2, 1, 0, NO_VALUE, 0, 0 }, "its columns are too short" },
        { { 0, 1, 2, 1, 0, 2, 0, 0 }, "its columns are too long" },
    };
    struct fixture *fixture = *state;
    struct saved_problem problem;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bytes columns = { 0 };
        struct craft craft;
        bool opened;

        craft_begin(&craft);
        craft_json(&craft, "HEAD", HEAD);
        craft_json(&craft, "MODS", MODULE);
        put_columns(cases[i].columns, 8, &columns);
        craft_bytes(&craft, "CHNS", BLOCK_FRAME_TABLES, columns.data, columns.count);
        opened = opens(fixture->session, craft.file.data, craft.file.count, &problem);
        assert_int_equal(opened, !cases[i].reason);
        if (!opened)
            assert_block_reason("CHNS", cases[i].reason, &problem);
        bytes_free(&columns);
        craft_end(&craft);
    }
}

static void columns_that_end_within_one_are_told(void **state)
{
    struct fixture *fixture = *state;
    struct saved_problem problem;
    struct craft craft;

    craft_begin(&craft);
    craft_json(&craft, "HEAD", HEAD);
    craft_bytes(&craft, "CHNS", BLOCK_FRAME_TABLES, "\5\1", 2);
    assert_false(opens(fixture->session, craft.file.data, craft.file.count, &problem));
    assert_string_equal(problem.reason, "block 'CHNS': its columns are not whole");
    craft_end(&craft);
}

static void a_source_without_a_path_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct saved_problem problem;
    struct craft craft;

    craft_begin(&craft);
    craft_json(&craft, "HEAD", HEAD);
    craft_bytes(&craft, "SRCE", BLOCK_FRAME_OWN, "no end", 6);
    assert_false(opens(fixture->session, craft.file.data, craft.file.count, &problem));
    assert_string_equal(problem.reason, "block 'SRCE': it has no path");
    craft_end(&craft);
}

/* It is looked at when somebody asks for samples. */
static void samples_that_are_packed_by_nobody_are_told(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot *snapshot = NULL;
    struct saved_problem problem;
    struct profile *saved;
    struct craft craft;

    craft_begin(&craft);
    craft_json(&craft, "HEAD", HEAD);
    craft_json(&craft, "PROC", PROCESS);
    craft_json(&craft, "THRD", THREAD);
    craft_json(&craft, "PIEC", PIECE);
    craft_stored(&craft, "SMPL", "not packed");
    write_bytes(fixture->session, craft.file.data, craft.file.count);
    saved = open_saved(fixture->session, &problem);
    assert_non_null(saved);
    assert_int_equal(snapshot_take(&snapshot, saved, &(struct snapshot_window){ 0 }),
                     -ISOSCOPE_DAMAGED);
    assert_true(saved_damage(saved, &problem));
    assert_string_equal(problem.reason, "block 'SMPL' cannot be unpacked");
    profile_free(saved);
    craft_end(&craft);
}

/* 2^24 zeros are some hundred bytes: neither tables nor columns may come to more than a file of
 * this size can hold. */
static void a_few_bytes_do_not_become_many(void **state)
{
    struct fixture *fixture = *state;
    struct saved_problem problem;
    struct craft craft;
    uint8_t *zeros = calloc(1, BLOCK_BYTES_MAX);

    craft_begin(&craft);
    craft_json(&craft, "HEAD", HEAD);
    craft_bytes(&craft, "CHNS", BLOCK_FRAME_TABLES, zeros, BLOCK_BYTES_MAX);
    assert_false(opens(fixture->session, craft.file.data, craft.file.count, &problem));
    assert_string_equal(problem.reason, "block 'CHNS': its columns are not whole");
    craft_end(&craft);
    craft_begin(&craft);
    craft_json(&craft, "HEAD", HEAD);
    craft_bytes(&craft, "STAT", BLOCK_FRAME_TABLES, zeros, 2 << 20);
    assert_false(opens(fixture->session, craft.file.data, craft.file.count, &problem));
    assert_string_equal(problem.reason, "block 'STAT' is larger than 1048576 bytes");
    craft_end(&craft);
    craft_begin(&craft);
    craft_json(&craft, "HEAD", HEAD);
    memcpy(zeros, "/a", 3);
    for (int i = 0; i < 3; i++)
        craft_bytes(&craft, "SRCE", BLOCK_FRAME_OWN, zeros, 10 << 20);
    assert_false(opens(fixture->session, craft.file.data, craft.file.count, &problem));
    assert_string_equal(problem.reason, "block 'SRCE': its tables come to more than a file of this "
                                        "size can hold");
    craft_end(&craft);
    free(zeros);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_that_is_no_session_is_told_what_it_is),
        TEST(a_folder_or_nothing_at_the_path_is_told),
        TEST(tables_that_cannot_be_are_told),
        TEST(what_there_is_no_room_for_is_told),
        TEST(times_that_would_be_before_0_are_told),
        TEST(pieces_that_cannot_be_are_told),
        TEST(pieces_of_other_kinds_are_checked_as_those_of_time),
        TEST(more_sources_than_a_chunk_may_have_are_told),
        TEST(blocks_that_cannot_be_are_told),
        TEST(damage_within_blocks_is_told_with_the_block),
        TEST(a_file_that_becomes_shorter_or_cannot_be_read_is_told),
        TEST(a_head_that_is_not_there_is_told),
        TEST(samples_that_cannot_be_are_told_when_somebody_looks),
        TEST(samples_of_other_kinds_have_more_that_cannot_be),
        TEST(chains_that_cannot_be_are_told),
        TEST(columns_that_end_within_one_are_told),
        TEST(a_source_without_a_path_is_told),
        TEST(samples_that_are_packed_by_nobody_are_told),
        TEST(a_few_bytes_do_not_become_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
