/* Who may talk to the service. */
#include "server/http/access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct access_rules none;

static void hosts_of_this_machine_are_allowed_on_any_port(void **state)
{
    (void)state;
    assert_true(access_host(&none, "127.0.0.1:8181"));
    assert_true(access_host(&none, "127.0.0.1"));
    assert_true(access_host(&none, "localhost:1"));
    assert_true(access_host(&none, "LocalHost"));
    assert_true(access_host(&none, "[::1]:8181"));
    assert_true(access_host(&none, "[::1]"));
}

/* A name that a stranger's DNS binds to 127.0.0.1 reaches the port, but keeps its Host. */
static void other_hosts_are_not_allowed(void **state)
{
    static const char *const hosts[] = {
        "",
        "evil.example",
        "evil.example:8181",
        "127.0.0.1.evil.example",
        "localhost.",
        "localhost@x",
        "127.0.0.1:80:80",
        "127.0.0.1:8x",
        "0.0.0.0",
        "127.0.0.2",
        "::1",
        "localhost,evil.example",
        "localhost:",
        "127.0.0.1:80 ",
    };

    (void)state;
    assert_false(access_host(&none, NULL));
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
        assert_false(access_host(&none, hosts[i]));
}

static void pages_of_this_machine_and_no_page_are_allowed(void **state)
{
    (void)state;
    assert_true(access_origin(&none, NULL));
    assert_true(access_origin(&none, ""));
    assert_true(access_origin(&none, "http://localhost:9100"));
    assert_true(access_origin(&none, "https://127.0.0.1"));
    assert_true(access_origin(&none, "http://[::1]:80"));
}

static void other_pages_are_not_allowed(void **state)
{
    static const char *const origins[] = {
        "null",      "file://",        "http://evil.example", "http://localhost.evil.example",
        "localhost", "ws://localhost", "vscode-webview://x",  "http://localhost/path",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++)
        assert_false(access_origin(&none, origins[i]));
}

static void the_users_own_names_are_allowed_and_no_others(void **state)
{
    static const struct access_rules rules = {
        .hosts = { .list = { "build.example" }, .count = 1 },
        .origins = { .list = { "null", "https://tools.example", "vscode-webview://*" },
                     .count = 3 },
    };

    (void)state;
    assert_true(access_host(&rules, "Build.Example:80"));
    assert_false(access_host(&rules, "build.example.evil.example"));
    assert_true(access_origin(&rules, "http://build.example:3000"));
    assert_true(access_origin(&rules, "null"));
    assert_true(access_origin(&rules, "https://tools.example"));
    assert_false(access_origin(&rules, "https://tools.example:8080"));
    assert_false(access_origin(&rules, "http://tools.example"));
    assert_true(access_origin(&rules, "vscode-webview://0a1b2c"));
    assert_false(access_origin(&rules, "vscode-webview:/"));
    assert_false(access_origin(&rules, "evil://vscode-webview://x"));
}

static void only_pages_of_this_machine_ask_without_an_origin(void **state)
{
    (void)state;
    assert_true(access_fetch_site(""));
    assert_true(access_fetch_site("none"));
    assert_true(access_fetch_site("same-origin"));
    assert_true(access_fetch_site("same-site"));
    assert_false(access_fetch_site("cross-site"));
    assert_false(access_fetch_site("anything"));
}

static void the_path_needs_the_whole_token(void **state)
{
    char method[ACCESS_METHOD_BYTES];
    static const char *const paths[] = {
        "", "/", "/ws", "/abc=", "/abc", "/abd==/ws", "/abc==x/ws", "abc==/ws", "//abc==/ws",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_int_equal(access_path(paths[i], "abc==", method), ACCESS_NO_TOKEN);
}

static void the_path_behind_the_token_decides(void **state)
{
    char method[ACCESS_METHOD_BYTES] = "";

    (void)state;
    assert_int_equal(access_path("/abc==", "abc==", method), ACCESS_NO_SLASH);
    assert_int_equal(access_path("/abc==/", "abc==", method), ACCESS_PAGE);
    assert_int_equal(access_path("/abc==/ws", "abc==", method), ACCESS_SOCKET);
    assert_int_equal(access_path("/abc==/ws/", "abc==", method), ACCESS_SOCKET);
    assert_int_equal(access_path("/abc==/openrpc.json", "abc==", method), ACCESS_OPENRPC);
    assert_int_equal(access_path("/abc==/metrics", "abc==", method), ACCESS_METRICS);
    assert_int_equal(access_path("/abc==/debug/pprof/heap", "abc==", method), ACCESS_PULL);
    assert_string_equal(method, "debug/pprof/heap");
    assert_int_equal(access_path("/abc==/pprof", "abc==", method), ACCESS_PULL);
    assert_string_equal(method, "pprof");
    assert_int_equal(access_path("/abc==/pprofs", "abc==", method), ACCESS_METHOD);
    assert_int_equal(access_path("/abc==/getVM", "abc==", method), ACCESS_METHOD);
    assert_string_equal(method, "getVM");
    assert_int_equal(access_path("/abc==/getVM/more/of/it", "abc==", method), ACCESS_METHOD);
    assert_string_equal(method, "getVM");
}

static void without_a_token_the_path_stands_alone(void **state)
{
    char method[ACCESS_METHOD_BYTES] = "";

    (void)state;
    assert_int_equal(access_path("", "", method), ACCESS_NO_TOKEN);
    assert_int_equal(access_path("/", "", method), ACCESS_PAGE);
    assert_int_equal(access_path("/ws", "", method), ACCESS_SOCKET);
    assert_int_equal(access_path("/getVM", "", method), ACCESS_METHOD);
    assert_string_equal(method, "getVM");
}

static void a_header_may_hold_the_whole_token(void **state)
{
    static const char *const others[] = {
        "",      "Bearer",        "Bearer ", "Bearer abc=", "Bearer abc===", "Basic abc==",
        "abc==", "Bearer abc== ",
    };

    (void)state;
    assert_true(access_bearer("Bearer abc==", "abc=="));
    assert_true(access_bearer("bearer  abc==", "abc=="));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(access_bearer(others[i], "abc=="));
    assert_false(access_bearer("Bearer ", ""));
}

static void a_methods_name_is_cut_where_no_method_is_so_long(void **state)
{
    char path[1000] = "/", method[ACCESS_METHOD_BYTES];

    (void)state;
    memset(path + 1, 'x', sizeof(path) - 2);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(access_path(path, "", method), ACCESS_METHOD);
    assert_int_equal(strlen(method), ACCESS_METHOD_BYTES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_of_this_machine_are_allowed_on_any_port),
        cmocka_unit_test(other_hosts_are_not_allowed),
        cmocka_unit_test(pages_of_this_machine_and_no_page_are_allowed),
        cmocka_unit_test(other_pages_are_not_allowed),
        cmocka_unit_test(the_users_own_names_are_allowed_and_no_others),
        cmocka_unit_test(only_pages_of_this_machine_ask_without_an_origin),
        cmocka_unit_test(the_path_needs_the_whole_token),
        cmocka_unit_test(the_path_behind_the_token_decides),
        cmocka_unit_test(without_a_token_the_path_stands_alone),
        cmocka_unit_test(a_header_may_hold_the_whole_token),
        cmocka_unit_test(a_methods_name_is_cut_where_no_method_is_so_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
