/* Addresses of engines, labels, and what goes to which. */
#include "server/push/push_request.h"

#include "sampler/include/isoscope/isoscope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const char *url_of(const char *text, enum push_form *form)
{
    static struct push_target target;
    char error[512];

    if (push_target_read(&target, text, error, sizeof(error)) < 0)
        return NULL;
    *form = target.form;
    return target.url;
}

static void an_address_says_which_way_is_spoken(void **state)
{
    enum push_form form;

    (void)state;
    assert_string_equal(url_of("http://localhost:4040", &form), "http://localhost:4040/ingest");
    assert_int_equal(form, PUSH_INGEST);
    assert_string_equal(url_of("https://p.example/", &form), "https://p.example/ingest");
    assert_string_equal(url_of("http://p.example/pyroscope/ingest", &form),
                        "http://p.example/pyroscope/ingest");
    assert_int_equal(form, PUSH_INGEST);
    assert_string_equal(url_of("HTTP://p/push.v1.PusherService/Push", &form),
                        "HTTP://p/push.v1.PusherService/Push");
    assert_int_equal(form, PUSH_API);
}

static void an_otlp_receiver_is_said_by_the_scheme_or_the_paths_end(void **state)
{
    static const char *const addresses[][2] = {
        { "otlp+http://localhost:4318", "http://localhost:4318/v1development/profiles" },
        { "otlp+https://o.example/", "https://o.example/v1development/profiles" },
        { "otlp+http://o.example/otlp", "http://o.example/otlp/v1development/profiles" },
        { "otlp+http://o.example/v1/profiles", "http://o.example/v1/profiles" },
        { "http://localhost:4040/v1development/profiles",
          "http://localhost:4040/v1development/profiles" },
    };
    enum push_form form;

    (void)state;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
        assert_string_equal(url_of(addresses[i][0], &form), addresses[i][1]);
        assert_int_equal(form, PUSH_OTLP);
    }
}

static void other_addresses_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *url, *words;
    } cases[] = {
        { "", "does not begin with http" },
        { "localhost:4040", "does not begin with http" },
        { "ftp://x", "does not begin with http" },
        { "http://", "does not begin with http" },
        { "http://user:secret@x", "--push-headers" },
        { "otlp+x:4318", "does not begin with http" },
        { "otlp+http://user:secret@x", "--push-headers" },
        { "http://x/?a=b", "has a query" },
        { "http://x/other", "/push.v1.PusherService/Push" },
        { "http://x y", "has characters that no address has" },
        { "http://x\n", "has characters that no address has" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct push_target target;
        char error[512];

        assert_int_equal(push_target_read(&target, cases[i].url, error, sizeof(error)),
                         -ISOSCOPE_INVALID);
        if (!strstr(error, cases[i].words))
            fail_msg("no \"%s\" in %s", cases[i].words, error);
    }
}

static void labels_are_names_and_short_values(void **state)
{
    static const char *const wrong[] = {
        "", "=", "=x", "a", "a=", "1a=x", "__a=x", "a-b=x", "a b=x"
    };
    struct push_labels labels = { 0 };
    char error[512], text[32];

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(push_label_read(&labels, wrong[i], error, sizeof(error)),
                         -ISOSCOPE_INVALID);
    assert_int_equal(push_label_read(&labels, "env=a=b{c}", error, sizeof(error)), 0);
    assert_string_equal(labels.list[0].name, "env");
    assert_string_equal(labels.list[0].value, "a_b_c_");
    assert_int_equal(push_label_read(&labels, "env=x", error, sizeof(error)), -ISOSCOPE_INVALID);
    for (int i = 1; i < PUSH_LABELS_MAX - PUSH_LABELS_OURS; i++) {
        snprintf(text, sizeof(text), "l%d=x", i);
        assert_int_equal(push_label_read(&labels, text, error, sizeof(error)), 0);
    }
    assert_int_equal(push_label_read(&labels, "more=x", error, sizeof(error)), -ISOSCOPE_INVALID);
    assert_non_null(strstr(error, "more than 16 labels"));
}

static void opentelemetrys_names_are_ours_and_back(void **state)
{
    struct push_labels labels = { 0 };
    char error[512];

    (void)state;
    assert_int_equal(push_label_read(&labels, "service.name=shop", error, sizeof(error)), 0);
    assert_string_equal(labels.list[0].name, "service_name");
    assert_int_equal(push_label_read(&labels, "service_name=x", error, sizeof(error)),
                     -ISOSCOPE_INVALID);
    assert_null(push_dotted_label(&labels));
    assert_int_equal(push_label_read(&labels, "service.version=2", error, sizeof(error)), 0);
    assert_string_equal(push_dotted_label(&labels), "service.version");
    assert_string_equal(push_otlp_name("service_name"), "service.name");
    assert_string_equal(push_otlp_name("env"), "env");
}

static struct push_profile example(void)
{
    struct push_profile profile = { .kind = "memory", .begin_ms = 1999, .end_ms = 3001 };

    push_label_add(&profile.labels, "service_name", "web shop");
    push_label_add(&profile.labels, "env", "a/b");
    push_label_add(&profile.labels, "host", "h1");
    push_label_add(&profile.labels, "env", "later");
    return profile;
}

static void ingest_has_labels_and_times_in_its_query(void **state)
{
    const struct push_target target = { .url = "http://x/ingest" };
    struct push_profile profile = example();
    struct json_text url = { 0 };

    (void)state;
    assert_int_equal(push_request_url(&url, &target, &profile), 0);
    assert_string_equal(url.data, "http://x/ingest?format=pprof&spyName=isoscope&from=1&until=4"
                                  "&name=web%20shop%7Benv%3Da%2Fb%2Chost%3Dh1%7D");
    json_text_free(&url);
}

static void stalls_go_where_an_otlp_receiver_takes_logs(void **state)
{
    static const char *const addresses[][2] = {
        { "otlp+http://x:4318", "http://x:4318/v1/logs" },
        { "otlp+http://x/otlp/", "http://x/otlp/v1/logs" },
        { "http://x/v1/profiles", "http://x/v1/logs" },
        { "http://x/a/profiles", "http://x/a/v1/logs" },
    };
    struct push_profile profile = { .kind = PUSH_STALLS };
    struct push_target target;
    char error[512];

    (void)state;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
        struct json_text url = { 0 };

        assert_int_equal(push_target_read(&target, addresses[i][0], error, sizeof(error)), 0);
        assert_int_equal(push_request_url(&url, &target, &profile), 0);
        assert_string_equal(url.data, addresses[i][1]);
        json_text_free(&url);
    }
}

static void the_push_api_has_them_in_json(void **state)
{
    const struct push_target target = { .url = "http://x/p", .form = PUSH_API };
    struct push_profile profile = example();
    struct json_text url = { 0 }, body = { 0 };

    (void)state;
    assert_int_equal(push_request_url(&url, &target, &profile), 0);
    assert_string_equal(url.data, "http://x/p");
    assert_int_equal(push_request_json(&body, &profile, "\x1f\x8b!!", 4), 0);
    assert_string_equal(body.data, "{\"series\":[{\"labels\":["
                                   "{\"name\":\"__name__\",\"value\":\"memory\"},"
                                   "{\"name\":\"service_name\",\"value\":\"web shop\"},"
                                   "{\"name\":\"env\",\"value\":\"a/b\"},"
                                   "{\"name\":\"host\",\"value\":\"h1\"}],"
                                   "\"samples\":[{\"rawProfile\":\"H4shIQ==\"}]}]}");
    json_text_free(&url);
    json_text_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_says_which_way_is_spoken),
        cmocka_unit_test(an_otlp_receiver_is_said_by_the_scheme_or_the_paths_end),
        cmocka_unit_test(opentelemetrys_names_are_ours_and_back),
        cmocka_unit_test(other_addresses_are_refused_with_a_reason),
        cmocka_unit_test(labels_are_names_and_short_values),
        cmocka_unit_test(ingest_has_labels_and_times_in_its_query),
        cmocka_unit_test(stalls_go_where_an_otlp_receiver_takes_logs),
        cmocka_unit_test(the_push_api_has_them_in_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
