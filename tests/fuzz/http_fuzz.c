/*
 * http_fuzz.c - any bytes as what a connection says first, in pieces as the first byte says.
 *
 * Sanitizers judge; and: pieces change nothing, what is decided has its answer, whose head fits,
 * and whoever is admitted has shown the token and a host of this machine.
 */
#include "protocol/text/openrpc.h"
#include "sampler/feed/cleanup.h"
#include "server/http/http.h"
#include "server/http/page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char page[] = "page";

const char openrpc_text[] = "{}";
const struct page_file page_files[] = {
    { "index.html", "text/html", "\"1\"", (const unsigned char *)page, sizeof(page) },
    { NULL, NULL, NULL, NULL, 0 },
};
const struct page_file docs_files[] = {
    { "index.html", "text/html", "\"2\"", (const unsigned char *)page, sizeof(page) },
    { NULL, NULL, NULL, NULL, 0 },
};

static void free_text(char **text)
{
    free(*text);
}

static enum http_scanned scan_in_steps(const char *text, size_t length, size_t step, size_t *status)
{
    struct http_head_scan scan = { 0 };
    enum http_scanned scanned = HTTP_HEAD_UNFINISHED;

    for (size_t at = step; scanned == HTTP_HEAD_UNFINISHED && at < length + step; at += step)
        scanned = http_head_scan(&scan, text, at < length ? at : length, status);
    return scanned;
}

static void check_outcome(const struct http_outcome *out, const char *head)
{
    char answer[HTTP_ANSWER_HEAD_BYTES];

    if (out->kind == HTTP_ANSWER && !http_answer_head(&out->answer, answer))
        abort();
    if (out->kind == HTTP_ANSWER && (!out->answer.status || !strchr("2345", *out->answer.status)))
        abort();
    if (out->kind != HTTP_ANSWER && !out->admitted)
        abort();
    if (out->admitted && !strstr(head, "abc") && !strchr(head, '%'))
        abort();
    if (out->kind == HTTP_SOCKET && strlen(out->handshake.accept) != HANDSHAKE_ACCEPT_BYTES - 1)
        abort();
}

static void decide(char *text, size_t length, const char *head)
{
    static const struct access_rules rules;
    static const struct http_site sites[] = {
        { "abc==", &rules, NULL, true },
        { "abc==", &rules, "ws://127.0.0.1:1/", false },
    };
    struct http_request request;
    struct http_outcome outcome;
    int status = http_head_read(&request, text, length);

    if (status)
        return http_refuse_head(&outcome, (size_t)status);
    http_decide(&outcome, &request, &sites[length % 2]);
    check_outcome(&outcome, head);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    size_t status = 0, same = 0, step = count ? bytes[0] % 16 + 1 : 1;
    CLEANUP(free_text) char *text = malloc(count + 1);

    if (!count)
        return 0;
    count--;
    memcpy(text, bytes + 1, count);

    struct http_head_scan scan = { 0 };
    enum http_scanned scanned = http_head_scan(&scan, text, count, &status);
    if (scan_in_steps(text, count, step, &same) != scanned || same != status)
        abort();
    if (scanned == HTTP_HEAD_WHOLE) {
        text = realloc(text, status); /* a byte behind it is one too many */
        char *head = strndup(text, status);

        decide(text, status, head);
        free(head);
    }
    return 0;
}
