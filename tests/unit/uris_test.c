#include "protocol/objects/uris.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_uri(const char *file, const char *package_uri, const char *file_uri)
{
    struct snapshot_library library = { .path = "/opt/python3", .name = "python3" };
    struct json_text package = { 0 }, path = { 0 };

    uri_source(&package, &library, file);
    uri_file(&path, file);
    assert_int_equal(package.length, strlen(package_uri));
    assert_memory_equal(package.data, package_uri, package.length);
    assert_int_equal(path.length, strlen(file_uri));
    assert_memory_equal(path.data, file_uri, path.length);
    json_text_free(&package);
    json_text_free(&path);
}

static void paths_lose_what_only_a_compiler_wanted(void **state)
{
    (void)state;
    assert_uri("/src/x.c", "package:python3/src/x.c", "file:///src/x.c");
    assert_uri("x.c", "package:python3/x.c", "file:///x.c");
    assert_uri("./build-static/../Objects/x.c", "package:python3/Objects/x.c",
               "file:///Objects/x.c");
    assert_uri("/a//b/./c/..//d.c", "package:python3/a/b/d.c", "file:///a/b/d.c");
    assert_uri("/a/b/..", "package:python3/a", "file:///a");
    assert_uri("/a/.hidden/..b/c...c", "package:python3/a/.hidden/..b/c...c",
               "file:///a/.hidden/..b/c...c");
}

/* Above the root is the root, as of a URI. */
static void nothing_leads_above_the_package(void **state)
{
    (void)state;
    assert_uri("../../x.c", "package:python3/x.c", "file:///x.c");
    assert_uri("/../a/../../x y.c", "package:python3/x%20y.c", "file:///x%20y.c");
}

static void assert_script(const char *path, const char *package, bool system, const char *uri,
                          const char *resolved_uri)
{
    struct snapshot_library library = {
        .path = path, .name = path, .runtime = "python", .package = package, .system = system
    };
    struct json_text source = { 0 }, resolved = { 0 };

    uri_source(&source, &library, path);
    uri_resolved(&resolved, &library, path);
    assert_int_equal(source.length, strlen(uri));
    assert_memory_equal(source.data, uri, source.length);
    assert_int_equal(resolved.length, strlen(resolved_uri));
    if (resolved.length)
        assert_memory_equal(resolved.data, resolved_uri, resolved.length);
    json_text_free(&source);
    json_text_free(&resolved);
}

/* What is built into the runtime is hidden, as system libraries are. */
static void a_runtimes_file_is_itself_or_a_packages(void **state)
{
    (void)state;
    assert_script("/home/u/my app.py", NULL, false, "file:///home/u/my%20app.py",
                  "file:///home/u/my%20app.py");
    assert_script("/v/site-packages/flask/app.py", "flask/app.py", true, "package:flask/app.py",
                  "package:flask/app.py");
    assert_script("/usr/lib/tool/main.py", NULL, true, "file:///usr/lib/tool/main.py",
                  "file:///usr/lib/tool/main.py");
    assert_script("<string>", NULL, false, "script:string", "script:string");
    assert_script("<frozen importlib._bootstrap>", NULL, true,
                  "script:frozen%20importlib._bootstrap", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lose_what_only_a_compiler_wanted),
        cmocka_unit_test(nothing_leads_above_the_package),
        cmocka_unit_test(a_runtimes_file_is_itself_or_a_packages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
