#include "http_head.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum {
    BAD_REQUEST = 400,
    URI_TOO_LONG = 414,
    FIELDS_TOO_LARGE = 431,
    NOT_IMPLEMENTED = 501,
    VERSION_NOT_SUPPORTED = 505
};

/* A line end is CR LF, and neither stands anywhere else; nor does another control byte. */
static bool is_plain(const char *text, size_t at)
{
    unsigned char byte = (unsigned char)text[at];

    if (at && text[at - 1] == '\r' && byte != '\n')
        return false;
    if (byte == '\n')
        return at && text[at - 1] == '\r';
    return (byte >= 0x20 && byte != 0x7f) || byte == '\t' || byte == '\r';
}

/* A line has ended at at. True: it was the head's last one. */
static bool line_ended(struct http_head_scan *scan, size_t at)
{
    bool empty = at - scan->line == 1;

    scan->line = at + 1;
    if (!scan->past_line) {
        scan->past_line = !empty; /* empty ones before a request are passed over */
        return false;
    }
    scan->fields++;
    return empty;
}

static int over_limit(const struct http_head_scan *scan, size_t at)
{
    if (!scan->past_line)
        return at >= HTTP_LINE_BYTES_MAX ? URI_TOO_LONG : 0;
    if (scan->fields > HTTP_FIELDS_MAX || at >= HTTP_HEAD_BYTES_MAX)
        return FIELDS_TOO_LARGE;
    return 0;
}

enum http_scanned http_head_scan(struct http_head_scan *scan, const char *text, size_t length,
                                 size_t *status)
{
    for (; scan->seen < length; scan->seen++) {
        size_t at = scan->seen;
        int refused = is_plain(text, at) ? over_limit(scan, at) : BAD_REQUEST;

        if (refused) {
            *status = (size_t)refused;
            return HTTP_HEAD_REFUSED;
        }
        if (text[at] == '\n' && line_ended(scan, at)) {
            *status = at + 1;
            return HTTP_HEAD_WHOLE;
        }
    }
    return HTTP_HEAD_UNFINISHED;
}

bool http_is_token(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && (!text[i] || !strchr("!#$%&'*+-.^_`|~", text[i])))
            return false;
    return length > 0;
}

static int hex_digit(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

/* In place. The new length; -1: a % without two digits. */
static long decode(char *text, size_t length, bool plus_is_space)
{
    size_t out = 0;

    for (size_t at = 0; at < length; at++) {
        char byte = text[at];

        if (byte == '%') {
            int high = at + 2 < length ? hex_digit(text[at + 1]) : -1;
            int low = at + 2 < length ? hex_digit(text[at + 2]) : -1;

            if (high < 0 || low < 0)
                return -1;
            byte = (char)(high << 4 | low);
            at += 2;
        } else if (byte == '+' && plus_is_space) {
            byte = ' ';
        }
        text[out++] = byte;
    }
    text[out] = '\0';
    return (long)out;
}

/* "//" is "/", as it always was: clients put paths together. */
static size_t join_slashes(char *path)
{
    size_t out = 0;

    for (size_t at = 0; path[at]; at++)
        if (path[at] != '/' || !out || path[out - 1] != '/')
            path[out++] = path[at];
    path[out] = '\0';
    return out;
}

static int read_path(struct http_request *out, char *path)
{
    char *query = strchr(path, '?');
    long length;

    if (query) {
        *query = '\0';
        out->query = query + 1;
    }
    length = decode(path, join_slashes(path), false);
    if (length < 0)
        return BAD_REQUEST;
    out->path = path;
    out->path_has_nul = strlen(path) != (size_t)length;
    return 0;
}

/* "http://host:port/path": what a proxy would get, and every server must take. */
static int read_absolute(struct http_request *out, char *target)
{
    size_t scheme = !strncasecmp(target, "http://", 7)    ? 7
                    : !strncasecmp(target, "https://", 8) ? 8
                                                          : 0;
    size_t length = strcspn(target + scheme, "/?");

    if (!scheme || !length)
        return BAD_REQUEST;
    /* Room for the end of the authority is made over the scheme. */
    memmove(target, target + scheme, length);
    target[length] = '\0';
    out->authority = target;
    char *path = target + scheme + length;
    if (*path == '/')
        return read_path(out, path);
    *--path = '/'; /* "?query", or nothing: the path is "/" */
    return read_path(out, path);
}

static int read_target(struct http_request *out, char *target)
{
    static char none[1];

    out->path = none;
    for (const char *at = target; *at; at++)
        if (*at == '#' || *at == '\t' || (unsigned char)*at >= 0x80)
            return BAD_REQUEST;
    if (!strcmp(out->method, "CONNECT")) /* host:port; no method of ours */
        return 0;
    if (!strcmp(target, "*"))
        return strcmp(out->method, "OPTIONS") ? BAD_REQUEST : 0;
    return target[0] == '/' ? read_path(out, target) : read_absolute(out, target);
}

static int read_version(struct http_request *out, const char *version)
{
    if (strncmp(version, "HTTP/", 5) != 0 || !isdigit((unsigned char)version[5]) ||
        version[6] != '.' || !isdigit((unsigned char)version[7]) || version[8])
        return BAD_REQUEST;
    if (version[5] != '1')
        return VERSION_NOT_SUPPORTED;
    out->minor = version[7] - '0';
    return 0;
}

static int read_request_line(struct http_request *out, char *line)
{
    char *target = strchr(line, ' ');
    char *version = target ? strchr(target + 1, ' ') : NULL;
    int status;

    if (!version)
        return BAD_REQUEST;
    *target++ = '\0';
    *version++ = '\0';
    if (!http_is_token(line, strlen(line)) || !*target)
        return BAD_REQUEST;
    out->method = line;
    status = read_version(out, version);
    return status ? status : read_target(out, target);
}

static int read_field(struct http_request *out, char *line)
{
    char *value = strchr(line, ':'), *end = line + strlen(line);

    /* A space before the colon, or a line that goes on, is no token either. */
    if (!value || !http_is_token(line, (size_t)(value - line)))
        return BAD_REQUEST;
    if (out->field_count == HTTP_FIELDS_MAX)
        return FIELDS_TOO_LARGE;
    *value++ = '\0';
    value += strspn(value, " \t");
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    out->fields[out->field_count++] = (struct http_field){ line, value };
    return 0;
}

/* SIZE_MAX: too long for a number. */
static size_t length_of(const char *digits)
{
    size_t length = 0;

    for (; *digits; digits++)
        if (__builtin_mul_overflow(length, 10, &length) ||
            __builtin_add_overflow(length, (size_t)(*digits - '0'), &length))
            return SIZE_MAX;
    return length;
}

static int check_length(struct http_request *request)
{
    const char *first = NULL, *value;

    for (size_t at = 0; (value = http_field_next(request, "Content-Length", &at));) {
        if (!*value || strspn(value, "0123456789") != strlen(value) ||
            (first && strcmp(first, value) != 0))
            return BAD_REQUEST;
        first = value;
    }
    request->body_length = first ? length_of(first) : 0;
    request->has_body = request->body_length > 0;
    return first && http_field(request, "Transfer-Encoding")[0] ? BAD_REQUEST : 0;
}

/* The body is not read, but where it ends must not be a matter of taste. */
static int check_framing(struct http_request *request)
{
    const char *coding;
    int status = check_length(request);

    for (size_t at = 0; !status && (coding = http_field_next(request, "Transfer-Encoding", &at));) {
        if (!request->minor || request->has_body || !*coding)
            return BAD_REQUEST;
        if (strcasecmp(coding, "chunked") != 0)
            return NOT_IMPLEMENTED;
        request->has_body = true;
    }
    return status;
}

int http_head_read(struct http_request *out, char *text, size_t length)
{
    char *line = text, *end = text + length;
    int status = 0;

    *out = (struct http_request){ .method = "" };
    while (line < end && line[0] == '\r')
        line += 2;
    for (bool first = true; !status && line < end && line[0] != '\r'; first = false) {
        char *next = memchr(line, '\n', (size_t)(end - line));

        if (!next)
            return BAD_REQUEST;
        next[-1] = '\0';
        status = first ? read_request_line(out, line) : read_field(out, line);
        line = next + 1;
    }
    return status ? status : check_framing(out);
}

const char *http_field_next(const struct http_request *request, const char *name, size_t *at)
{
    while (*at < request->field_count) {
        const struct http_field *field = &request->fields[(*at)++];

        if (!strcasecmp(field->name, name))
            return field->value;
    }
    return NULL;
}

const char *http_field(const struct http_request *request, const char *name)
{
    const char *value = http_field_next(request, name, &(size_t){ 0 });

    return value ? value : "";
}

bool http_field_lists(const struct http_request *request, const char *name, const char *word)
{
    size_t length = strlen(word);
    const char *value;

    for (size_t at = 0; (value = http_field_next(request, name, &at));)
        while (*value) {
            value += strspn(value, ", \t");
            size_t size = strcspn(value, ", \t");

            if (size == length && !strncasecmp(value, word, length))
                return true;
            value += size;
        }
    return false;
}

bool http_arguments(char *query, const char *out[HTTP_ARGUMENTS_MAX], size_t *count,
                    bool *malformed)
{
    char *argument;

    *count = 0;
    *malformed = false;
    while ((argument = strsep(&query, "&"))) {
        size_t length = strlen(argument);
        long decoded = decode(argument, length, true);

        if (!length)
            continue; /* "a=1&&b=2" */
        *malformed = decoded < 0 || strlen(argument) != (size_t)decoded;
        if (*malformed || *count == HTTP_ARGUMENTS_MAX)
            return false;
        out[(*count)++] = argument;
    }
    return true;
}
