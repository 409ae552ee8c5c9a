/* Small programs, built by the compilers of this machine, and addr2line to say what is right. */
#include "sampler/profile/symbols/lines.h"
#include "sampler/profile/symbols/files/root.h"

#include "fake_elf.h"
#include "skip_because.h"
#include "sampler/feed/cleanup.h"
#include "sampler/profile/symbols/files/elf_functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { ANSWER_BYTES = 64 << 20, ADDRESSES_MAX = 1 << 14, COMMAND_BYTES = 2048 };

static const char header_text[] = "static inline int twice(int x) { return 2 * x; }\n"
                                  "static inline int\n"
                                  "weigh(const int *values, int count)\n"
                                  "{\n"
                                  "    int sum = 0;\n"
                                  "    for (int i = 0; i < count; i++)\n"
                                  "        sum += twice(values[i]) ^ i;\n"
                                  "    return sum;\n"
                                  "}\n";

static const char c_text[] = "#include \"sub/weigh.h\"\n"
                             "extern int outside(int);\n"
                             "static inline int both(const int *values, int count)\n"
                             "{\n"
                             "    if (count > 100)\n"
                             "        return weigh(values, 100);\n"
                             "    return weigh(values + 1, count) + outside(count);\n"
                             "}\n"
                             "int first(const int *values, int count)\n"
                             "{\n"
                             "    return both(values, count) * outside(3);\n"
                             "}\n"
                             "__attribute__((cold)) int second(const int *values)\n"
                             "{\n"
                             "    return twice(values[0]) + both(values, 7);\n"
                             "}\n";

static const char cpp_text[] = "#include <algorithm>\n"
                               "#include <map>\n"
                               "#include <string>\n"
                               "#include <vector>\n"
                               "#define static /* which leaves no mangled name */\n"
                               "#include \"sub/weigh.h\"\n"
                               "#undef static\n"
                               "namespace shop {\n"
                               "template <typename T> struct Basket {\n"
                               "    std::vector<T> items;\n"
                               "    void add(T item) { items.push_back(item); }\n"
                               "    int weight() const;\n"
                               "};\n"
                               "template <typename T> int Basket<T>::weight() const\n"
                               "{\n"
                               "    return weigh(items.data(), (int)items.size());\n"
                               "}\n"
                               "int fill(const std::map<std::string, int> &prices)\n"
                               "{\n"
                               "    Basket<int> basket;\n"
                               "    for (auto &price : prices)\n"
                               "        basket.add(price.second);\n"
                               "    std::sort(basket.items.begin(), basket.items.end());\n"
                               "    auto first = [&](int count) {\n"
                               "        return weigh(basket.items.data(), count);\n"
                               "    };\n"
                               "    if (prices.size() > 9)\n"
                               "        return first(3);\n"
                               "    return basket.weight();\n"
                               "}\n"
                               "}\n";

/* A folder with sources in it, gone at the test's end with all that was made there. */
struct workshop {
    char directory[64];
    char module[128];
};

static void write_file(const struct workshop *shop, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", shop->directory, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void workshop_open(struct workshop *shop)
{
    char path[128];

    fake_directory(shop->directory);
    snprintf(shop->module, sizeof(shop->module), "%s/module", shop->directory);
    snprintf(path, sizeof(path), "%s/sub", shop->directory);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(shop, "sub/weigh.h", header_text);
    write_file(shop, "code.c", c_text);
    write_file(shop, "code.cc", cpp_text);
    write_file(shop, "more.c", "int outside(int x) { return x + 1; }\n");
}

/* Runs the command in the folder; false: it failed, or there is no such program. */
__attribute__((format(printf, 2, 3))) static bool run(const struct workshop *shop,
                                                      const char *format, ...)
{
    char command[COMMAND_BYTES];
    int at = snprintf(command, sizeof(command), "cd %s && { ", shop->directory);
    va_list arguments;

    va_start(arguments, format);
    at += vsnprintf(command + at, sizeof(command) - (size_t)at, format, arguments);
    va_end(arguments);
    snprintf(command + at, sizeof(command) - (size_t)at, "; } >log 2>&1");
    return system(command) == 0;
}

static void workshop_close(struct workshop *shop)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -r %s", shop->directory);
    assert_int_equal(system(command), 0);
}

static struct lines *open_module(const char *path)
{
    const char *reason;
    CLEANUP(elf_file_closep) struct elf_file *file = elf_file_open(ROOT_OURS, path, &reason);
    uint8_t build_id[FEED_BUILD_ID_MAX];
    struct module_file module = { .path = path, .build_id = build_id };
    struct lines *lines;

    if (file)
        module.build_id_bytes = elf_file_build_id(file, build_id);
    assert_int_equal(lines_open(&lines, &module), 0);
    return lines;
}

static void close_lines(struct lines **lines)
{
    lines_close(*lines);
}

struct addresses {
    uint64_t list[ADDRESSES_MAX];
    uint32_t count;
};

static bool add_addresses(void *context, const struct elf_function *function)
{
    struct addresses *out = context;

    for (uint64_t i = 0; i < function->size && out->count < ADDRESSES_MAX; i++)
        out->list[out->count++] = function->start + i;
    return true;
}

/* All that are in a function whose unit has debug data: not those of the compiler's own start. */
static void read_addresses(struct addresses *out, const char *path, struct lines *lines)
{
    const char *reason;
    CLEANUP(elf_file_closep) struct elf_file *file = elf_file_open(ROOT_OURS, path, &reason);
    struct line_frame frames[LINES_FRAMES_MAX];
    uint32_t kept = 0;

    out->count = 0;
    assert_non_null(file);
    elf_functions(file, add_addresses, out);
    for (uint32_t i = 0; i < out->count; i++)
        if (lines_find(lines, out->list[i], frames))
            out->list[kept++] = out->list[i];
    out->count = kept;
    assert_true(kept > 50);
}

static size_t write_frame(char *text, const struct line_frame *frame)
{
    const char *name = frame->linkage_name ? frame->linkage_name : frame->name;
    size_t bytes =
        (size_t)sprintf(text, "%s\n%s:", name ? name : "??", frame->file ? frame->file : "??");

    return bytes + (size_t)sprintf(text + bytes, frame->line ? "%u\n" : "?\n", frame->line);
}

/* What we say of all addresses, as addr2line would write it. */
static char *our_answer(struct lines *lines, const struct addresses *addresses)
{
    char *text = malloc(ANSWER_BYTES);
    struct line_frame frames[LINES_FRAMES_MAX];
    size_t at = 0;

    assert_non_null(text);
    for (uint32_t i = 0; i < addresses->count; i++) {
        uint32_t count = lines_find(lines, addresses->list[i], frames);

        at += (size_t)sprintf(text + at, "0x%016lx\n", addresses->list[i]);
        assert_true(at < ANSWER_BYTES / 2);
        for (uint32_t k = 0; k < count; k++) {
            assert_true(frames[k].inlined == (k + 1 < count));
            at += write_frame(text + at, &frames[k]);
        }
    }
    return text;
}

static void remove_discriminators(char *text)
{
    char *found, *end;

    while ((found = strstr(text, " (discriminator")) && (end = strchr(found, '\n')))
        memmove(found, end, strlen(end) + 1);
}

static char *read_file(const struct workshop *shop, const char *name)
{
    char path[256], *text = malloc(ANSWER_BYTES);
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", shop->directory, name);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(text);
    text[fread(text, 1, ANSWER_BYTES - 1, file)] = 0;
    fclose(file);
    return text;
}

static char *answer_of_addr2line(const struct workshop *shop, const struct addresses *addresses)
{
    char path[256], *text;
    FILE *file;

    snprintf(path, sizeof(path), "%s/addresses", shop->directory);
    file = fopen(path, "w");
    assert_non_null(file);
    for (uint32_t i = 0; i < addresses->count; i++)
        fprintf(file, "%lx\n", addresses->list[i]);
    fclose(file);
    assert_true(run(shop, "addr2line -a -f -i -e module <addresses >answer"));
    text = read_file(shop, "answer");
    remove_discriminators(text);
    return text;
}

static void freep(void *pointer)
{
    free(*(void **)pointer);
}

/* Fails with the first address whose frames differ. */
static void assert_same_answers(const char *ours, const char *theirs)
{
    const char *address = ours;

    for (size_t i = 0; ours[i] == theirs[i]; i++) {
        if (!ours[i])
            return;
        if (ours[i] == '\n' && !strncmp(ours + i + 1, "0x0", 3))
            address = ours + i + 1;
    }
    fail_msg("%.600s\n--- should be ---\n%.600s", address, theirs + (address - ours));
}

/* Whether code inlined from the header was there to be compared. */
static bool assert_as_addr2line_says(const struct workshop *shop)
{
    CLEANUP(close_lines) struct lines *lines = open_module(shop->module);
    CLEANUP(freep) char *ours = NULL, *theirs = NULL;
    static struct addresses addresses;

    assert_null(lines_reason(lines));
    read_addresses(&addresses, shop->module, lines);
    ours = our_answer(lines, &addresses);
    theirs = answer_of_addr2line(shop, &addresses);
    assert_same_answers(ours, theirs);
    return strstr(ours, "sub/weigh.h:7\n") != NULL;
}

#define BUILD "-shared -fPIC -O2 -o module"

/* Each is done with code.c or code.cc and more.c; a compiler that is not there is left out. */
static void assert_all_as_addr2line_says(const char *const commands[], uint32_t count)
{
    uint32_t built = 0;

    for (uint32_t i = 0; i < count; i++) {
        CLEANUP(workshop_close) struct workshop shop;

        workshop_open(&shop);
        if (!run(&shop, "%s", commands[i]))
            continue;
        built++;
        assert_true(assert_as_addr2line_says(&shop));
    }
    assert_true(built > 0);
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void frames_of_c_are_those_of_addr2line(void **state)
{
    static const char *const commands[] = { "gcc -gdwarf-4 " BUILD " code.c more.c",
                                            "gcc -gdwarf-5 " BUILD " code.c more.c",
                                            "clang -gdwarf-4 " BUILD " code.c more.c" };

    (void)state;
    assert_all_as_addr2line_says(commands, COUNT_OF(commands));
}

static void frames_of_templates_and_lambdas_are_those_of_addr2line(void **state)
{
    static const char *const commands[] = {
        "g++ -gdwarf-4 " BUILD " code.cc",
        "clang++ -gdwarf-4 " BUILD " code.cc",
    };

    (void)state;
    assert_all_as_addr2line_says(commands, COUNT_OF(commands));
}

static void compressed_sections_and_paths_from_elsewhere_change_nothing(void **state)
{
    static const char *const commands[] = {
        "gcc -g -gz=zlib " BUILD " code.c more.c",
        "gcc -g -ffunction-sections -Wl,--gc-sections -fvisibility=hidden "
        "-Dfirst='__attribute__((visibility(\"default\"))) first' " BUILD " code.c more.c",
        "mkdir elsewhere && cd elsewhere && gcc -g -I.. -shared -fPIC -O2 -o ../module ../code.c",
    };

    (void)state;
    assert_all_as_addr2line_says(commands, COUNT_OF(commands));
}

static char *all_answers(const struct workshop *shop, uint32_t *count)
{
    CLEANUP(close_lines) struct lines *lines = open_module(shop->module);
    static struct addresses addresses;

    assert_null(lines_reason(lines));
    read_addresses(&addresses, shop->module, lines);
    *count = addresses.count;
    return our_answer(lines, &addresses);
}

/* Before and after the second command the module's frames are the same ones. */
static void assert_changes_nothing(const char *build, const char *change)
{
    CLEANUP(workshop_close) struct workshop shop;
    CLEANUP(freep) char *before = NULL, *after = NULL;
    uint32_t count;

    workshop_open(&shop);
    assert_true(run(&shop, "%s", build));
    before = all_answers(&shop, &count);
    assert_true(run(&shop, "%s", change));
    after = all_answers(&shop, &count);
    assert_same_answers(after, before);
}

/* addr2line of binutils 2.40 reads neither range lists by index nor 64-bit line tables, and takes
 * file 0 of version 5 for file 1 until the line program names one. */
static void what_addr2line_cannot_read_is_as_in_another_format(void **state)
{
    (void)state;
    assert_changes_nothing("gcc -gdwarf-5 " BUILD " code.c more.c",
                           "gcc -gdwarf-5 -gdwarf64 " BUILD " code.c more.c");
    assert_changes_nothing("clang -gdwarf-4 " BUILD " code.c more.c",
                           "clang -gdwarf-5 " BUILD " code.c more.c");
    assert_changes_nothing("g++ -gdwarf-4 " BUILD " code.cc", "g++ -gdwarf-5 " BUILD " code.cc");
    assert_changes_nothing("gcc -gdwarf-4 -flto " BUILD " code.c more.c",
                           "gcc -gdwarf-5 -flto " BUILD " code.c more.c");
}

static void a_stripped_program_has_the_lines_of_its_debug_file(void **state)
{
    (void)state;
    assert_changes_nothing(
        "gcc -g -Wl,--build-id " BUILD " code.c more.c",
        "mkdir .debug && objcopy --only-keep-debug module .debug/module.debug &&"
        "strip -g module && objcopy --add-gnu-debuglink=.debug/module.debug module");
}

static void what_dwz_shares_is_found_again(void **state)
{
    CLEANUP(workshop_close) struct workshop shop;

    (void)state;
    workshop_open(&shop);
    if (!run(&shop, "dwz --version"))
        skip_because("there is no dwz");
    assert_changes_nothing("g++ -g " BUILD " code.cc", "dwz module");
    assert_changes_nothing("g++ -g " BUILD " code.cc && cp module other",
                           "dwz -m common module other");
}

static void units_in_dwo_files_are_read(void **state)
{
    (void)state;
    assert_changes_nothing("gcc -gdwarf-4 " BUILD " code.c",
                           "gcc -gdwarf-4 -gsplit-dwarf " BUILD " code.c");
    assert_changes_nothing("gcc -gdwarf-5 " BUILD " code.c",
                           "gcc -gdwarf-5 -gsplit-dwarf " BUILD " code.c");
}

/* Link-time optimization keeps what is inlined in units of its own. */
static void functions_described_in_another_unit_have_names(void **state)
{
    static const char *const commands[] = {
        "gcc -gdwarf-4 -flto " BUILD " code.c more.c",
    };

    (void)state;
    assert_all_as_addr2line_says(commands, COUNT_OF(commands));
}

static void a_function_knows_where_it_is_defined(void **state)
{
    CLEANUP(workshop_close) struct workshop shop;
    struct line_frame frames[LINES_FRAMES_MAX];
    static struct addresses addresses;
    bool found = false;

    (void)state;
    workshop_open(&shop);
    assert_true(run(&shop, "gcc -g " BUILD " code.c more.c"));
    CLEANUP(close_lines) struct lines *lines = open_module(shop.module);
    read_addresses(&addresses, shop.module, lines);
    for (uint32_t i = 0; i < addresses.count; i++) {
        uint32_t count = lines_find(lines, addresses.list[i], frames);

        for (uint32_t k = 0; k < count; k++) {
            if (strcmp(frames[k].name, "weigh") != 0)
                continue;
            found = true;
            assert_int_equal(frames[k].decl_line, 3);
            assert_non_null(strstr(frames[k].decl_file, "/sub/weigh.h"));
        }
    }
    assert_true(found);
}

static const char scopes_text[] =
    "namespace shop {\n"
    "namespace { struct Till { int sum(int *v, int n) { v[0] += n; return v[n] * n; } }; }\n"
    "struct Basket { int weigh(int *values, int count); };\n"
    "static int twice(int *value) { *value ^= 3; return *value * 2; }\n"
    "int Basket::weigh(int *values, int count) {\n"
    "    auto each = [&](int i) { while (i < count) values[i++] ^= i; return values[0]; };\n"
    "    struct Local { int take(int *v) { v[7] += 1; return v[7] * 3; } };\n"
    "    return each(3) + Till().sum(values, count) + twice(values) + Local().take(values);\n"
    "}\n"
    "}\n"
    "static int alone(int *value) { *value ^= 5; return *value * 7; }\n"
    "extern \"C\" int bare(int *value) { return alone(value); }\n";

static bool scope_is_seen(struct lines *lines, const struct addresses *addresses, const char *scope,
                          const char *name)
{
    struct line_frame frames[LINES_FRAMES_MAX];

    for (uint32_t i = 0; i < addresses->count; i++) {
        uint32_t count = lines_find(lines, addresses->list[i], frames);

        for (uint32_t k = 0; k < count; k++)
            if (frames[k].name && !strcmp(frames[k].name, name) && !frames[k].linkage_name)
                return !scope == !frames[k].scope && (!scope || !strcmp(scope, frames[k].scope));
    }
    return false;
}

static void assert_scopes_are_seen(const char *build)
{
    CLEANUP(workshop_close) struct workshop shop;
    static struct addresses addresses;

    workshop_open(&shop);
    write_file(&shop, "scopes.cc", scopes_text);
    assert_true(run(&shop, "%s", build));
    CLEANUP(close_lines) struct lines *lines = open_module(shop.module);
    read_addresses(&addresses, shop.module, lines);
    assert_true(scope_is_seen(lines, &addresses, "shop", "twice"));
    assert_true(scope_is_seen(lines, &addresses, "shop::(anonymous namespace)::Till", "sum"));
    assert_true(scope_is_seen(lines, &addresses, "shop::Basket::weigh::{lambda}", "operator()"));
    assert_true(scope_is_seen(lines, &addresses, "shop::Basket::weigh::Local", "take"));
    assert_true(scope_is_seen(lines, &addresses, NULL, "alone"));
    assert_true(scope_is_seen(lines, &addresses, NULL, "bare"));
}

/* Static functions, lambdas, classes in functions and in unnamed namespaces: by gcc. */
static void what_has_no_mangled_name_knows_the_scopes_around_it(void **state)
{
    (void)state;
    assert_scopes_are_seen("g++ -gdwarf-4 " BUILD " scopes.cc");
    assert_scopes_are_seen("g++ -gdwarf-5 " BUILD " scopes.cc");
    assert_scopes_are_seen("g++ -g -gsplit-dwarf " BUILD " scopes.cc");
    assert_scopes_are_seen("g++ -g -flto " BUILD " scopes.cc");
}

enum { MANY_FUNCTIONS = 300, MANY_TEXT_BYTES = 64 * 1024 };

/* In turns in a namespace in another one, and in none. */
static void write_many_functions(const struct workshop *shop)
{
    static char text[MANY_TEXT_BYTES];
    int bytes = 0;

    for (int i = 0; i < MANY_FUNCTIONS; i++)
        bytes += snprintf(text + bytes, sizeof(text) - (size_t)bytes,
                          "namespace shop%d { namespace { __attribute__((used, noinline))\n"
                          "int in%d(int *v) { *v ^= %d; return *v; } } }\n"
                          "static __attribute__((used, noinline))\n"
                          "int out%d(int *v) { *v += %d; return *v; }\n",
                          i % 3, i, i, i, i);
    assert_true(bytes < MANY_TEXT_BYTES);
    write_file(shop, "many.cc", text);
}

/* Wherever in its unit a function is, and whichever is asked for first. */
static void of_many_functions_each_knows_its_own_scopes(void **state)
{
    CLEANUP(workshop_close) struct workshop shop;
    static struct addresses addresses;

    (void)state;
    workshop_open(&shop);
    write_many_functions(&shop);
    assert_true(run(&shop, "g++ -g " BUILD " many.cc"));
    CLEANUP(close_lines) struct lines *lines = open_module(shop.module);
    read_addresses(&addresses, shop.module, lines);
    for (int i = MANY_FUNCTIONS; i-- > 0;) {
        char scope[64], inside[32], outside[32];

        snprintf(scope, sizeof(scope), "shop%d::(anonymous namespace)", i % 3);
        snprintf(inside, sizeof(inside), "in%d", i);
        snprintf(outside, sizeof(outside), "out%d", i);
        assert_true(scope_is_seen(lines, &addresses, scope, inside));
        assert_true(scope_is_seen(lines, &addresses, NULL, outside));
    }
}

/* Forgotten units are read again, and libdw is closed and opened in between. */
static void with_no_room_to_keep_anything_the_answers_are_the_same(void **state)
{
    CLEANUP(workshop_close) struct workshop shop;
    CLEANUP(freep) char *before = NULL, *after = NULL;
    static struct addresses addresses;

    (void)state;
    workshop_open(&shop);
    assert_true(run(&shop, "gcc -g -flto -flto-partition=none " BUILD " code.c more.c"));
    CLEANUP(close_lines) struct lines *lines = open_module(shop.module);
    read_addresses(&addresses, shop.module, lines);
    before = our_answer(lines, &addresses);
    lines_limit(lines, 0);
    for (uint32_t i = addresses.count; i > 1; i -= 2) { /* far from each other: other units */
        uint64_t saved = addresses.list[i / 2];

        addresses.list[i / 2] = addresses.list[i - 1];
        addresses.list[i - 1] = saved;
    }
    for (uint32_t i = 2 - addresses.count % 2; i <= addresses.count; i += 2) {
        struct line_frame frames[LINES_FRAMES_MAX];

        assert_true(lines_find(lines, addresses.list[i - 1], frames) > 0);
    }
    read_addresses(&addresses, shop.module, lines);
    after = our_answer(lines, &addresses);
    assert_same_answers(after, before);
}

static void a_module_without_debug_data_has_a_reason(void **state)
{
    CLEANUP(workshop_close) struct workshop shop;
    struct line_frame frames[LINES_FRAMES_MAX];

    (void)state;
    workshop_open(&shop);
    assert_true(run(&shop, "gcc " BUILD " code.c more.c"));
    CLEANUP(close_lines) struct lines *lines = open_module(shop.module);
    CLEANUP(close_lines) struct lines *missing = open_module("/nowhere/at/all");
    assert_string_equal(lines_reason(lines), "the file has no debug information");
    assert_int_equal(lines_find(lines, 0x1000, frames), 0);
    assert_string_equal(lines_reason(missing), "no such file");
    assert_int_equal(lines_find(missing, 0x1000, frames), 0);
}

/* Functions whose abstract origins are themselves; a table of files that take no bytes each. */
static const char cycle_text[] =
    ".text\n.globl f\n.type f,@function\nf: nop\nnop\nnop\nret\n.size f,.-f\n"
    ".section .debug_abbrev\n"
    ".uleb128 1,0x11\n.byte 1\n.uleb128 0x11,1, 0x12,7, 0x10,0x17, 0,0\n"
    ".uleb128 2,0x2e\n.byte 1\n.uleb128 0x31,0x13, 0x11,1, 0x12,7, 0,0\n"
    ".uleb128 3,0x1d\n.byte 0\n.uleb128 0x31,0x13, 0x11,1, 0x12,7, 0x59,0xb, 0,0\n"
    ".byte 0\n"
    ".section .debug_info\n"
    "start: .4byte end - begin\nbegin: .2byte 4\n.4byte .debug_abbrev\n.byte 8\n"
    ".uleb128 1\n.8byte f\n.8byte 4\n.4byte table\n"
    "outer: .uleb128 2\n.4byte outer - start\n.8byte f\n.8byte 4\n"
    "inner: .uleb128 3\n.4byte inner - start\n.8byte f\n.8byte 2\n.byte 9\n"
    ".byte 0,0\nend:\n"
    ".section .debug_line\n"
    "table: .4byte table_end - table_begin\n"
    "table_begin: .2byte 5\n.byte 8,0\n.4byte table_end - names\n"
    "names: .byte 1,1,1,-5,14,1\n"
    ".byte 1\n.uleb128 1,0x19,0xffffffffff\n"
    ".byte 1\n.uleb128 1,0x19,0xffffffffff\n"
    "table_end:\n";

static void references_in_a_circle_and_tables_without_end_are_left(void **state)
{
    CLEANUP(workshop_close) struct workshop shop;
    struct line_frame frames[LINES_FRAMES_MAX];
    struct addresses addresses = { 0 };
    const char *reason;

    (void)state;
    workshop_open(&shop);
    write_file(&shop, "cycle.s", cycle_text);
    assert_true(run(&shop, "gcc -nostdlib -shared -o module cycle.s"));
    CLEANUP(close_lines) struct lines *lines = open_module(shop.module);
    CLEANUP(elf_file_closep) struct elf_file *file = elf_file_open(ROOT_OURS, shop.module, &reason);
    elf_functions(file, add_addresses, &addresses);
    assert_int_equal(lines_find(lines, addresses.list[0], frames), 2);
    assert_null(frames[0].name);
    assert_null(frames[1].name);
    assert_int_equal(frames[1].line, 9);
    assert_int_equal(lines_find(lines, addresses.list[3], frames), 1);
}

/* Bytes of the debug data in turn say something else. */
static void debug_data_that_lies_is_survived(void **state)
{
    CLEANUP(workshop_close) struct workshop shop;
    CLEANUP(freep) char *image = NULL;
    struct line_frame frames[LINES_FRAMES_MAX];
    struct addresses addresses = { 0 };
    struct stat status;
    const char *reason;
    uint64_t random = 1;

    (void)state;
    workshop_open(&shop);
    assert_true(run(&shop, "gcc -g " BUILD " code.c more.c"));
    assert_int_equal(stat(shop.module, &status), 0);
    {
        CLEANUP(elf_file_closep)
        struct elf_file *file = elf_file_open(ROOT_OURS, shop.module, &reason);

        elf_functions(file, add_addresses, &addresses);
    }
    image = read_file(&shop, "module");
    for (int round = 0; round < 300; round++) {
        FILE *file = fopen(shop.module, "r+");
        long at;

        random = random * 6364136223846793005 + 1442695040888963407;
        at = (long)((random >> 33) % (uint64_t)(status.st_size - 64)) + 64;
        fseek(file, at, SEEK_SET);
        fputc((char)(image[at] ^ (1 << (random >> 61))), file);
        fclose(file);
        struct lines *lines = open_module(shop.module);
        for (uint32_t i = 0; i < addresses.count; i += 5)
            lines_find(lines, addresses.list[i], frames);
        lines_close(lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_c_are_those_of_addr2line),
        cmocka_unit_test(frames_of_templates_and_lambdas_are_those_of_addr2line),
        cmocka_unit_test(compressed_sections_and_paths_from_elsewhere_change_nothing),
        cmocka_unit_test(functions_described_in_another_unit_have_names),
        cmocka_unit_test(what_addr2line_cannot_read_is_as_in_another_format),
        cmocka_unit_test(a_stripped_program_has_the_lines_of_its_debug_file),
        cmocka_unit_test(what_dwz_shares_is_found_again),
        cmocka_unit_test(units_in_dwo_files_are_read),
        cmocka_unit_test(a_function_knows_where_it_is_defined),
        cmocka_unit_test(what_has_no_mangled_name_knows_the_scopes_around_it),
        cmocka_unit_test(of_many_functions_each_knows_its_own_scopes),
        cmocka_unit_test(with_no_room_to_keep_anything_the_answers_are_the_same),
        cmocka_unit_test(a_module_without_debug_data_has_a_reason),
        cmocka_unit_test(references_in_a_circle_and_tables_without_end_are_left),
        cmocka_unit_test(debug_data_that_lies_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
