#include "push_request.h"

#include "../../protocol/text/base64.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#define SERVICE_NAME   "service_name"
#define OTLP_SCHEME    "otlp+"
#define OTLP_PATH      "/v1development/profiles"
#define OTLP_LOGS_PATH "/v1/logs"

static const struct {
    const char *ours, *otlp;
} names[] = {
    { SERVICE_NAME, "service.name" },
    { "host", "host.name" },
    { "user", "process.owner" },
    { "pid", "process.pid" },
    { "container_id", "container.id" },
    { "container_runtime", "container.runtime" },
    { "pod_uid", "k8s.pod.uid" },
    { "systemd_unit", "systemd.unit" },
    { "build_id", "process.executable.build_id.gnu" },
};

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);

    return length >= size && !strcmp(text + length - size, end);
}

/* Behind the scheme; NULL: it has none that is spoken. */
static const char *authority_of(const char *url)
{
    if (!strncasecmp(url, "http://", 7))
        return url + 7;
    return strncasecmp(url, "https://", 8) ? NULL : url + 8;
}

const char *push_address_problem(const char *url)
{
    const char *authority = authority_of(url);
    size_t length = authority ? strcspn(authority, "/") : 0;

    for (const char *at = url; *at; at++)
        if (*at <= ' ' || *at > '~')
            return "has characters that no address has";
    if (!length)
        return "does not begin with http://HOST or https://HOST";
    if (memchr(authority, '@', length))
        return "has a password in it, which others can read: put it into a file of headers "
               "(--push-headers, --upload-headers)";
    if (strpbrk(url, "?#"))
        return "has a query, which is made here";
    if (strlen(url) + sizeof(OTLP_PATH) > PUSH_URL_BYTES)
        return "is too long";
    return NULL;
}

/* What stands behind the last character but a slash. */
static size_t length_without_slash(const char *url)
{
    size_t length = strlen(url);

    return length && url[length - 1] == '/' ? length - 1 : length;
}

static void complete(struct push_target *out, const char *url, const char *path)
{
    snprintf(out->url, sizeof(out->url), "%.*s%s", (int)length_without_slash(url), url, path);
}

int push_target_read(struct push_target *out, const char *url, char *error, size_t error_size)
{
    bool otlp = !strncasecmp(url, OTLP_SCHEME, strlen(OTLP_SCHEME));
    const char *address = otlp ? url + strlen(OTLP_SCHEME) : url, *path;
    const char *problem = push_address_problem(address);

    if (problem) {
        snprintf(error, error_size, "'%.200s' %s", url, problem);
        return -ISOSCOPE_INVALID;
    }
    path = authority_of(address) + strcspn(authority_of(address), "/");
    out->form = PUSH_INGEST;
    if (otlp || ends_in(path, "/profiles")) {
        out->form = PUSH_OTLP;
        complete(out, address, ends_in(path, "/profiles") ? "" : OTLP_PATH);
        return 0;
    }
    if (ends_in(path, "/push.v1.PusherService/Push"))
        out->form = PUSH_API;
    complete(out, address, !path[0] || !strcmp(path, "/") ? "/ingest" : "");
    if (out->form == PUSH_API || ends_in(out->url, "/ingest"))
        return 0;
    snprintf(error, error_size,
             "'%.200s' is neither the address of a Pyroscope, as http://localhost:4040, nor of an "
             "OTLP receiver, as otlp+http://localhost:4318, nor ends in /ingest, "
             "/push.v1.PusherService/Push or /profiles",
             url);
    return -ISOSCOPE_INVALID;
}

static bool is_label_name(const char *name, size_t length)
{
    if (!length || length >= PUSH_LABEL_NAME_BYTES || isdigit((unsigned char)name[0]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '.')
            return false;
    return name[0] != '_' || name[1] != '_'; /* those with two are the engine's own */
}

static bool has(const struct push_labels *labels, const char *name, size_t length)
{
    for (unsigned i = 0; i < labels->count; i++)
        if (strlen(labels->list[i].name) == length && !memcmp(labels->list[i].name, name, length))
            return true;
    return false;
}

const char *push_otlp_name(const char *label)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(label, names[i].ours))
            return names[i].otlp;
    return label;
}

static const char *our_name(const char *name)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(name, names[i].otlp))
            return names[i].ours;
    return name;
}

const char *push_dotted_label(const struct push_labels *labels)
{
    for (unsigned i = 0; i < labels->count; i++)
        if (strchr(labels->list[i].name, '.'))
            return labels->list[i].name;
    return NULL;
}

int push_label_read(struct push_labels *labels, const char *text, char *error, size_t error_size)
{
    size_t length = strcspn(text, "=");
    char given[PUSH_LABEL_NAME_BYTES] = "";
    const char *name;

    if (is_label_name(text, length))
        snprintf(given, sizeof(given), "%.*s", (int)length, text);
    name = our_name(given);
    if (!text[length] || !given[0])
        snprintf(error, error_size,
                 "'%.80s' is not NAME=VALUE with a name of letters, digits, '_' and '.'", text);
    else if (strlen(text + length + 1) >= PUSH_LABEL_VALUE_BYTES || !text[length + 1])
        snprintf(error, error_size, "'%.80s': a label's value has 1 to %d bytes", text,
                 PUSH_LABEL_VALUE_BYTES - 1);
    else if (has(labels, name, strlen(name)))
        snprintf(error, error_size, "%s is given twice", given);
    else if (labels->count >= PUSH_LABELS_MAX - PUSH_LABELS_OURS)
        snprintf(error, error_size, "more than %d labels", PUSH_LABELS_MAX - PUSH_LABELS_OURS);
    else {
        push_label_add(labels, name, text + length + 1);
        return 0;
    }
    return -ISOSCOPE_INVALID;
}

void push_label_add(struct push_labels *labels, const char *name, const char *value)
{
    struct push_label *label = &labels->list[labels->count];

    if (labels->count == PUSH_LABELS_MAX || has(labels, name, strlen(name)))
        return;
    snprintf(label->name, sizeof(label->name), "%s", name);
    snprintf(label->value, sizeof(label->value), "%s", value);
    for (char *at = label->value; *at; at++)
        if (*at < ' ' || *at > '~' || strchr("{},=\"\\", *at))
            *at = '_';
    labels->count++;
}

void push_label_add_program(struct push_labels *labels, const char *path)
{
    const char *slash = strrchr(path, '/');

    push_label_add(labels, SERVICE_NAME, slash ? slash + 1 : path);
}

static void put(struct json_text *out, const char *text)
{
    json_text_raw(out, text, strlen(text));
}

static void put_encoded(struct json_text *out, const char *text)
{
    char code[4];

    for (; *text; text++) {
        if (isalnum((unsigned char)*text) || strchr("-._~", *text)) {
            json_text_raw(out, text, 1);
            continue;
        }
        snprintf(code, sizeof(code), "%%%02X", (unsigned char)*text);
        put(out, code);
    }
}

static const char *service_of(const struct push_profile *profile)
{
    for (unsigned i = 0; i < profile->labels.count; i++)
        if (!strcmp(profile->labels.list[i].name, SERVICE_NAME))
            return profile->labels.list[i].value;
    return "unspecified";
}

/* service{name=value,...}: the engine puts what kind it is behind the service's name itself. */
static void put_series(struct json_text *out, const struct push_profile *profile)
{
    bool any = false;

    put_encoded(out, service_of(profile));
    put_encoded(out, "{");
    for (unsigned i = 0; i < profile->labels.count; i++) {
        if (!strcmp(profile->labels.list[i].name, SERVICE_NAME))
            continue;
        if (any)
            put_encoded(out, ",");
        any = true;
        put_encoded(out, profile->labels.list[i].name);
        put_encoded(out, "=");
        put_encoded(out, profile->labels.list[i].value);
    }
    put_encoded(out, "}");
}

static int end_text(struct json_text *out)
{
    json_text_raw(out, "", 1);
    if (out->failed)
        return -ISOSCOPE_NO_MEMORY;
    out->length--;
    return 0;
}

/* Of an address for OTLP profiles, what stands before its path. */
static size_t length_of_base(const char *url)
{
    static const char *const paths[] = { OTLP_PATH, "/v1/profiles", "/profiles" };

    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (ends_in(url, paths[i]))
            return strlen(url) - strlen(paths[i]);
    return strlen(url);
}

int push_request_url(struct json_text *out, const struct push_target *target,
                     const struct push_profile *profile)
{
    if (target->form == PUSH_OTLP && !strcmp(profile->kind, PUSH_STALLS)) {
        json_text_raw(out, target->url, length_of_base(target->url));
        put(out, OTLP_LOGS_PATH);
        return end_text(out);
    }
    put(out, target->url);
    if (target->form == PUSH_INGEST) {
        put(out, "?format=pprof&spyName=isoscope");
        json_text_member(out, "&from=", profile->begin_ms / 1000);
        json_text_member(out, "&until=", (profile->end_ms + 999) / 1000);
        put(out, "&name=");
        put_series(out, profile);
    }
    return end_text(out);
}

static void put_label(struct json_text *out, const char *name, const char *value, bool *any)
{
    json_text_comma(out, any);
    put(out, "{\"name\":");
    json_text_string(out, name);
    put(out, ",\"value\":");
    json_text_string(out, value);
    put(out, "}");
}

int push_request_json(struct json_text *out, const struct push_profile *profile, const char *bytes,
                      size_t length)
{
    bool any = false;

    put(out, "{\"series\":[{\"labels\":[");
    put_label(out, "__name__", profile->kind, &any);
    for (unsigned i = 0; i < profile->labels.count; i++)
        put_label(out, profile->labels.list[i].name, profile->labels.list[i].value, &any);
    put(out, "],\"samples\":[{\"rawProfile\":\"");
    base64_put(out, bytes, length, true);
    put(out, "\"}]}]}");
    return end_text(out);
}
