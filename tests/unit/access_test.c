/* Who may talk to the service. */
#include "server/access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void hosts_of_this_machine_are_allowed_on_any_port(void **state)
{
    (void)state;
    assert_true(access_host("127.0.0.1:8181"));
    assert_true(access_host("127.0.0.1"));
    assert_true(access_host("localhost:1"));
    assert_true(access_host("LocalHost"));
    assert_true(access_host("[::1]:8181"));
    assert_true(access_host("[::1]"));
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
    };

    (void)state;
    assert_false(access_host(NULL));
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
        assert_false(access_host(hosts[i]));
}

static void pages_of_this_machine_and_no_page_are_allowed(void **state)
{
    (void)state;
    assert_true(access_origin(NULL));
    assert_true(access_origin(""));
    assert_true(access_origin("http://localhost:9100"));
    assert_true(access_origin("https://127.0.0.1"));
    assert_true(access_origin("http://[::1]:80"));
}

static void other_pages_are_not_allowed(void **state)
{
    static const char *const origins[] = {
        "null",      "file://",        "http://evil.example", "http://localhost.evil.example",
        "localhost", "ws://localhost", "vscode-webview://x",  "http://localhost/path",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++)
        assert_false(access_origin(origins[i]));
}

static void the_path_needs_the_whole_token(void **state)
{
    static const char *const paths[] = {
        "", "/", "/ws", "/abc=", "/abc", "/abd==/ws", "/abc==x/ws", "abc==/ws", "//abc==/ws",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_int_equal(access_path(paths[i], "abc=="), ACCESS_NO_TOKEN);
}

static void the_path_behind_the_token_decides(void **state)
{
    (void)state;
    assert_int_equal(access_path("/abc==", "abc=="), ACCESS_NO_SLASH);
    assert_int_equal(access_path("/abc==/", "abc=="), ACCESS_PAGE);
    assert_int_equal(access_path("/abc==/ws", "abc=="), ACCESS_SOCKET);
    assert_int_equal(access_path("/abc==/openrpc.json", "abc=="), ACCESS_OPENRPC);
    assert_int_equal(access_path("/abc==/ws/", "abc=="), ACCESS_UNKNOWN);
    assert_int_equal(access_path("/abc==/getVM", "abc=="), ACCESS_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_of_this_machine_are_allowed_on_any_port),
        cmocka_unit_test(other_hosts_are_not_allowed),
        cmocka_unit_test(pages_of_this_machine_and_no_page_are_allowed),
        cmocka_unit_test(other_pages_are_not_allowed),
        cmocka_unit_test(the_path_needs_the_whole_token),
        cmocka_unit_test(the_path_behind_the_token_decides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
