#include "process_place.h"

#include "../../feed/cleanup.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ID_DIGITS = 64,
    SHORT_DIGITS = 12, /* as engines show it to people */
    UID_BYTES = 36,
    FILE_BYTES = 256 * 1024,
};

/* What engines put before a container's number, and what people call them. */
static const struct {
    const char *prefix, *engine;
} engines[] = {
    { "docker", "docker" }, { "cri-containerd", "containerd" }, { "crio", "cri-o" },
    { "libpod", "podman" }, { "nerdctl", "containerd" },        { "containerd", "containerd" },
};

/* One name of a path. */
struct part {
    const char *at;
    size_t length;
};

static bool begins(struct part part, const char *with)
{
    return part.length >= strlen(with) && !memcmp(part.at, with, strlen(with));
}

static bool ends(struct part part, const char *with)
{
    size_t length = strlen(with);

    return part.length > length && !memcmp(part.at + part.length - length, with, length);
}

static void copy(struct part part, char *out, size_t size)
{
    snprintf(out, size, "%.*s", (int)part.length, part.at);
}

static size_t digits_at(const char *text, size_t length)
{
    size_t count = 0;

    while (count < length &&
           (isdigit((unsigned char)text[count]) || (text[count] >= 'a' && text[count] <= 'f')))
        count++;
    return count;
}

/* The last number of a container that stands there by itself; false: there is none. */
static bool find_id(struct part text, struct part *id)
{
    bool found = false;

    for (size_t at = 0; at < text.length;) {
        size_t digits = digits_at(text.at + at, text.length - at);

        if (digits == ID_DIGITS && (!at || !isalnum((unsigned char)text.at[at - 1])) &&
            (at + digits == text.length || !isalnum((unsigned char)text.at[at + digits]))) {
            *id = (struct part){ text.at + at, digits };
            found = true;
        }
        at += digits ? digits : 1;
    }
    return found;
}

static void set_engine(struct part word, struct process_place *out)
{
    for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++)
        if (word.length == strlen(engines[i].prefix) && begins(word, engines[i].prefix))
            snprintf(out->engine, sizeof(out->engine), "%s", engines[i].engine);
}

/* "docker-ID.scope", "crio-ID", "ID" below "docker". */
static void take_container(struct part part, struct part parent, struct process_place *out)
{
    struct part id;

    if (!find_id(part, &id))
        return;
    out->engine[0] = '\0';
    copy(id, out->container, sizeof(out->container));
    if (id.at > part.at)
        set_engine((struct part){ part.at, (size_t)(id.at - part.at) - 1 }, out);
    else
        set_engine(parent, out);
}

/* "lxc.payload.NAME", and "NAME" below "lxc". */
static void take_lxc(struct part part, struct part parent, struct process_place *out)
{
    static const char payload[] = "lxc.payload.";
    bool is_payload = begins(part, payload) && part.length > strlen(payload);

    if (out->container[0] || (!is_payload && !(parent.length == 3 && begins(parent, "lxc"))))
        return;
    if (is_payload)
        part = (struct part){ part.at + strlen(payload), part.length - strlen(payload) };
    copy(part, out->container, sizeof(out->container));
    snprintf(out->engine, sizeof(out->engine), "lxc");
}

static bool is_uid(const char *text)
{
    for (size_t i = 0; i < UID_BYTES; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (is_dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
            return false;
    }
    return text[UID_BYTES] == '\0';
}

/* "kubepods-burstable-pod8f3c_....slice", as systemd writes dashes; "pod8f3c-...". */
static void take_pod(struct part part, struct process_place *out)
{
    char uid[PLACE_POD_BYTES];

    if (ends(part, ".slice"))
        part.length -= strlen(".slice");
    if (part.length < UID_BYTES + 3 || memcmp(part.at + part.length - UID_BYTES - 3, "pod", 3) != 0)
        return;
    copy((struct part){ part.at + part.length - UID_BYTES, UID_BYTES }, uid, sizeof(uid));
    for (char *at = uid; *at; at++)
        *at = *at == '_' ? '-' : *at;
    if (is_uid(uid))
        memcpy(out->pod, uid, sizeof(uid));
}

static int hex_of(const char *text)
{
    char digits[3] = { text[0], text[1], '\0' };

    return isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1])
               ? (int)strtol(digits, NULL, 16)
               : -1;
}

/* systemd writes what may not stand in a unit's name as \x2d. */
static void unescape(char *text)
{
    char *out = text;

    while (*text) {
        int value = text[0] == '\\' && text[1] == 'x' && text[2] ? hex_of(text + 2) : -1;

        if (value > ' ' && value < 0x7f) {
            *out++ = (char)value;
            text += 4;
        } else {
            *out++ = *text++;
        }
    }
    *out = '\0';
}

/* The innermost one. */
static void take_unit(struct part part, struct process_place *out)
{
    if (!ends(part, ".service") && !ends(part, ".scope"))
        return;
    copy(part, out->unit, sizeof(out->unit));
    unescape(out->unit);
}

/* From the root on: what is inner counts. */
static void take_path(struct part path, struct process_place *out)
{
    const char *end = path.at + path.length;
    struct part parent = { "", 0 };

    for (const char *at = path.at; at < end;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        struct part part = { at, (size_t)((slash ? slash : end) - at) };

        if (part.length) {
            take_container(part, parent, out);
            take_lxc(part, parent, out);
            take_pod(part, out);
            take_unit(part, out);
            parent = part;
        }
        at += part.length + 1;
    }
}

/* "12:cpu,cpuacct:/docker/ID": a number, what is controlled, and the group. NULL: it is no such line. */
static const char *path_in(const char *line, size_t length)
{
    const char *first = memchr(line, ':', length), *second;

    if (!first)
        return NULL;
    second = memchr(first + 1, ':', length - (size_t)(first + 1 - line));
    return second ? second + 1 : NULL;
}

/* Of several hierarchies the one that knows most: some have all processes in their root. */
void process_place_in_groups(const char *text, struct process_place *out)
{
    *out = (struct process_place){ 0 };
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *path = path_in(text, length);
        struct process_place place = { 0 };

        if (path)
            take_path((struct part){ path, (size_t)(text + length - path) }, &place);
        if (place.container[0] && !out->container[0])
            *out = place;
        else if (!out->container[0] && place.unit[0] && !out->unit[0])
            *out = place;
        text += length + (text[length] == '\n');
    }
    if (out->container[0])
        out->unit[0] = '\0'; /* the container's own */
}

void process_place_in_mounts(const char *text, struct process_place *out)
{
    static const char hostname[] = " /etc/hostname ";

    *out = (struct process_place){ 0 };
    while (*text && !out->container[0]) {
        size_t length = strcspn(text, "\n");
        struct part id;

        if (memmem(text, length, hostname, strlen(hostname)) &&
            find_id((struct part){ text, length }, &id))
            copy(id, out->container, sizeof(out->container));
        text += length + (text[length] == '\n');
    }
}

static void close_stream(FILE **stream)
{
    if (*stream)
        fclose(*stream);
}

/* True: there was such a file, which out tells of. */
static bool read_with(int32_t pid, const char *name,
                      void (*find)(const char *text, struct process_place *out),
                      struct process_place *out)
{
    char path[64], *text = malloc(FILE_BYTES);

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    CLEANUP(close_stream) FILE *file = text ? fopen(path, "re") : NULL;
    if (file) {
        text[fread(text, 1, FILE_BYTES - 1, file)] = '\0';
        find(text, out);
    }
    free(text);
    return file != NULL;
}

struct process_place process_place_of(int32_t pid)
{
    struct process_place place = { 0 };

    if (pid > 0 && read_with(pid, "cgroup", process_place_in_groups, &place) &&
        !place.container[0] && !place.unit[0])
        read_with(pid, "mountinfo", process_place_in_mounts, &place);
    return place;
}

void process_place_label(const struct process_place *place, char out[PLACE_LABEL_BYTES])
{
    const char *engine = place->engine[0] ? place->engine : "container";
    char container[PLACE_CONTAINER_BYTES] = "";

    if (place->container[0]) /* a name, as LXC has, is said in full */
        snprintf(container, sizeof(container), "%.*s",
                 strlen(place->container) == ID_DIGITS ? SHORT_DIGITS : ID_DIGITS,
                 place->container);
    if (place->pod[0])
        snprintf(out, PLACE_LABEL_BYTES, "pod %s %s %s", place->pod, engine, container);
    else if (place->container[0])
        snprintf(out, PLACE_LABEL_BYTES, "%s %s", engine, container);
    else
        snprintf(out, PLACE_LABEL_BYTES, "%s", place->unit);
}
