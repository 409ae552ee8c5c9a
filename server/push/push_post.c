#include "push_post.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libcurl.so.4"

enum {
    CONNECT_MS = 10 * 1000,
    ALL_MS = 30 * 1000,
    STILL_S = 30,                 /* of a file, of which nothing moves */
    ANSWER_BYTES_MAX = 64 * 1024, /* of it only the first words are kept */
    HEADER_BYTES = 4096,
};

/* What is taken of the library. */
struct calls {
    CURLcode (*global_init)(long flags);
    CURL *(*init)(void);
    void (*cleanup)(CURL *curl);
    CURLcode (*set)(CURL *curl, CURLoption option, ...);
    CURLcode (*perform)(CURL *curl);
    CURLcode (*get)(CURL *curl, CURLINFO info, ...);
    const char *(*problem)(CURLcode code);
    struct curl_slist *(*append)(struct curl_slist *list, const char *text);
    void (*free_all)(struct curl_slist *list);
};

struct push_post {
    struct calls calls;
    CURL *curl;
    struct curl_slist *headers; /* the user's and ours */
    size_t answered;            /* bytes */
    struct push_reply *reply;
    _Atomic bool cancelled;
    int end_fd; /* -1: there is none */
};

static bool take_symbol(void *library, const char *name, void *out)
{
    *(void **)out = dlsym(library, name);
    return *(void **)out != NULL;
}

/* It stays, as all that it brings along. */
static bool load(struct calls *calls)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    return library && take_symbol(library, "curl_global_init", &calls->global_init) &&
           take_symbol(library, "curl_easy_init", &calls->init) &&
           take_symbol(library, "curl_easy_cleanup", &calls->cleanup) &&
           take_symbol(library, "curl_easy_setopt", &calls->set) &&
           take_symbol(library, "curl_easy_perform", &calls->perform) &&
           take_symbol(library, "curl_easy_getinfo", &calls->get) &&
           take_symbol(library, "curl_easy_strerror", &calls->problem) &&
           take_symbol(library, "curl_slist_append", &calls->append) &&
           take_symbol(library, "curl_slist_free_all", &calls->free_all);
}

static int add_header(struct push_post *post, const char *text)
{
    struct curl_slist *longer = post->calls.append(post->headers, text);

    if (!longer)
        return -ISOSCOPE_NO_MEMORY;
    post->headers = longer;
    return 0;
}

static int read_headers(struct push_post *post, const char *path, char *error, size_t error_size)
{
    FILE *file = fopen(path, "re");
    char line[HEADER_BYTES];
    int status = 0;

    if (!file) {
        snprintf(error, error_size, "cannot read %s: %s", path, strerror(errno));
        return -ISOSCOPE_INVALID;
    }
    while (status == 0 && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (!line[0])
            continue;
        if (!strchr(line, ':')) {
            snprintf(error, error_size, "%s: a line is no header, as \"X-Scope-OrgID: team\" is",
                     path);
            status = -ISOSCOPE_INVALID;
        } else {
            status = add_header(post, line);
        }
    }
    fclose(file);
    return status;
}

static size_t answer_came(char *bytes, size_t one, size_t count, void *context)
{
    struct push_post *post = context;
    char *words = post->reply->words;
    size_t size = one * count, have = strlen(words), room = sizeof(post->reply->words) - 1 - have;

    for (size_t i = 0; i < size && post->reply->answer_length < sizeof(post->reply->answer); i++)
        post->reply->answer[post->reply->answer_length++] = (uint8_t)bytes[i];
    post->answered += size;
    if (post->answered > ANSWER_BYTES_MAX)
        return 0;
    for (size_t i = 0; i < size && room && bytes[i] != '\n'; i++, room--)
        words[have++] = bytes[i] < ' ' || bytes[i] > '~' ? '?' : bytes[i];
    return size;
}

static int go_on(void *context, curl_off_t to_come, curl_off_t came, curl_off_t to_go,
                 curl_off_t went)
{
    struct push_post *post = context;
    struct pollfd end = { .fd = post->end_fd, .events = POLLIN };

    (void)to_come, (void)came, (void)to_go, (void)went;
    return post->cancelled || poll(&end, 1, 0) > 0;
}

static int set_up(struct push_post *post)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = post->calls.set;
    CURL *curl = post->curl;
    CURLcode all = CURLE_OK;

    all |= set(curl, CURLOPT_NOSIGNAL, 1L);
    all |= set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    all |= set(curl, CURLOPT_FOLLOWLOCATION, 0L);
    all |= set(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    all |= set(curl, CURLOPT_TIMEOUT_MS, (long)ALL_MS);
    all |= set(curl, CURLOPT_USERAGENT, "isoscope/" ISOSCOPE_VERSION);
    all |= set(curl, CURLOPT_WRITEFUNCTION, answer_came);
    all |= set(curl, CURLOPT_WRITEDATA, post);
    all |= set(curl, CURLOPT_NOPROGRESS, 0L);
    all |= set(curl, CURLOPT_XFERINFOFUNCTION, go_on);
    all |= set(curl, CURLOPT_XFERINFODATA, post);
    return all == CURLE_OK ? 0 : -ISOSCOPE_NO_MEMORY;
}

int push_post_new(struct push_post **out, const char *headers, char *error, size_t error_size)
{
    struct push_post *post = calloc(1, sizeof(*post));
    int status = post ? 0 : -ISOSCOPE_NO_MEMORY;

    if (post)
        post->end_fd = -1;
    if (post && !load(&post->calls)) {
        snprintf(error, error_size, LIBRARY " is missing: install libcurl4");
        free(post);
        return -ISOSCOPE_INVALID;
    }
    if (post && post->calls.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        post->curl = post->calls.init();
    if (post && (!post->curl || set_up(post) < 0 || add_header(post, "Expect:") < 0))
        status = -ISOSCOPE_NO_MEMORY;
    if (status == 0 && headers)
        status = read_headers(post, headers, error, error_size);
    if (status < 0) {
        if (status == -ISOSCOPE_NO_MEMORY)
            snprintf(error, error_size, "out of memory");
        push_post_free(post);
        return status;
    }
    *out = post;
    return 0;
}

void push_post_free(struct push_post *post)
{
    if (!post)
        return;
    post->calls.free_all(post->headers);
    if (post->curl)
        post->calls.cleanup(post->curl);
    free(post);
}

/* Where an answer breaks off it is none. Of one that we break off, as it has no end, the status was
 * whole. */
static void read_reply(struct push_post *post, CURLcode code, struct push_reply *out)
{
    curl_off_t retry_after = 0;

    if (code != CURLE_OK && code != CURLE_WRITE_ERROR) {
        snprintf(out->words, sizeof(out->words), "%s", post->calls.problem(code));
        return;
    }
    post->calls.get(post->curl, CURLINFO_RESPONSE_CODE, &out->status);
    post->calls.get(post->curl, CURLINFO_RETRY_AFTER, &retry_after);
    out->retry_after_s = (long)retry_after;
}

/* Of this request; what an earlier one has set does not stay. */
static void begin(struct push_post *post, const char *url, const struct curl_slist *headers,
                  struct push_reply *out)
{
    *out = (struct push_reply){ 0 };
    post->reply = out;
    post->answered = 0;
    post->calls.set(post->curl, CURLOPT_URL, url);
    post->calls.set(post->curl, CURLOPT_HTTPHEADER, headers);
}

void push_post_send(struct push_post *post, const char *url, const struct push_body *body,
                    struct push_reply *out)
{
    char packed[64], line[128];
    struct curl_slist encoding = { packed, post->headers };
    struct curl_slist content = { line, body->encoding ? &encoding : post->headers };

    snprintf(line, sizeof(line), "Content-Type: %s", body->type);
    if (body->encoding)
        snprintf(packed, sizeof(packed), "Content-Encoding: %s", body->encoding);
    begin(post, url, &content, out);
    post->calls.set(post->curl, CURLOPT_POSTFIELDS, body->bytes);
    post->calls.set(post->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->length);
    read_reply(post, post->calls.perform(post->curl), out);
}

void push_post_head(struct push_post *post, const char *url, struct push_reply *out)
{
    begin(post, url, post->headers, out);
    post->calls.set(post->curl, CURLOPT_UPLOAD, 0L);
    post->calls.set(post->curl, CURLOPT_NOBODY, 1L);
    post->calls.set(post->curl, CURLOPT_TIMEOUT_MS, (long)ALL_MS);
    read_reply(post, post->calls.perform(post->curl), out);
}

struct reading {
    int fd;
    uint64_t at, end;
};

/* A file that became shorter meanwhile ends the request: it is not what was announced. */
static size_t read_piece(char *out, size_t one, size_t count, void *context)
{
    struct reading *reading = context;
    uint64_t left = reading->end - reading->at;
    size_t size = one * count < left ? one * count : (size_t)left;
    ssize_t got = size ? pread(reading->fd, out, size, (off_t)reading->at) : 0;

    if (got < 0 || (size && !got))
        return CURL_READFUNC_ABORT;
    reading->at += (uint64_t)got;
    return (size_t)got;
}

void push_post_file(struct push_post *post, const char *url, int fd, uint64_t bytes,
                    struct push_reply *out)
{
    struct curl_slist type = { (char[]){ "Content-Type: application/octet-stream" },
                               post->headers };
    struct reading reading = { fd, 0, bytes };

    begin(post, url, &type, out);
    post->calls.set(post->curl, CURLOPT_NOBODY, 0L);
    post->calls.set(post->curl, CURLOPT_UPLOAD, 1L);
    post->calls.set(post->curl, CURLOPT_TIMEOUT_MS, 0L);
    post->calls.set(post->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    post->calls.set(post->curl, CURLOPT_LOW_SPEED_TIME, (long)STILL_S);
    post->calls.set(post->curl, CURLOPT_READFUNCTION, read_piece);
    post->calls.set(post->curl, CURLOPT_READDATA, &reading);
    post->calls.set(post->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)bytes);
    read_reply(post, post->calls.perform(post->curl), out);
    post->calls.set(post->curl, CURLOPT_READDATA, NULL); /* which was ours */
}

void push_post_cancel(struct push_post *post)
{
    post->cancelled = true;
}

void push_post_end_with(struct push_post *post, int fd)
{
    post->end_fd = fd;
}
