#include "other_users.h"

#include "delay.h"

#include "../sampler/feed/message.h"
#include "../sampler/include/isoscope/isoscope.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LOOK_MS = 20, /* exec ends the feed just before the program is another one */
    LOOKS = 50,
    WAITING_MAX = 64, /* more at once are not looked at */
};

struct ended {
    pid_t pid;
    unsigned looks_left;
    char exe[FEED_EXE_BYTES];
};

struct other_users {
    struct delay *look;
    struct ended waiting[WAITING_MAX];
    unsigned waiting_count, count;
};

/* Its effective user; ours where that cannot be read. */
static uid_t user_of(pid_t pid)
{
    char path[32], line[256];
    unsigned user = geteuid();
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "Uid: %*u %u", &user) == 1)
            break;
    if (file)
        fclose(file);
    return user;
}

static bool is_other(uid_t user)
{
    return user != geteuid() && user != 0;
}

/* One that is ending has no program any more. */
static bool is_other_program(const struct ended *ended)
{
    char path[32], exe[PATH_MAX] = "";
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/%d/exe", ended->pid);
    length = readlink(path, exe, sizeof(exe) - 1);
    return length > 0 && strncmp(exe, ended->exe, sizeof(ended->exe) - 1) != 0;
}

static void look(void *context)
{
    struct other_users *users = context;
    unsigned kept = 0;

    for (unsigned i = 0; i < users->waiting_count; i++) {
        struct ended *ended = &users->waiting[i];

        if (!is_other(user_of(ended->pid)))
            continue;
        if (is_other_program(ended))
            users->count++;
        else if (ended->looks_left--)
            users->waiting[kept++] = *ended;
    }
    users->waiting_count = kept;
    if (kept)
        delay_set(users->look, LOOK_MS);
}

int other_users_new(struct other_users **out, struct loop *loop)
{
    struct other_users *users = calloc(1, sizeof(*users));

    if (!users)
        return -ISOSCOPE_NO_MEMORY;
    if (delay_new(&users->look, loop, look, users) < 0) {
        free(users);
        return -ISOSCOPE_SYSTEM;
    }
    *out = users;
    return 0;
}

void other_users_free(struct other_users *users)
{
    if (!users)
        return;
    delay_free(users->look);
    free(users);
}

void other_users_feed_ended(struct other_users *users, pid_t pid, const char *exe)
{
    struct ended *ended;

    if (users->waiting_count == WAITING_MAX || !is_other(user_of(pid)))
        return;
    ended = &users->waiting[users->waiting_count++];
    ended->pid = pid;
    ended->looks_left = LOOKS;
    snprintf(ended->exe, sizeof(ended->exe), "%s", exe);
    delay_set(users->look, LOOK_MS);
}

unsigned other_users_count(struct other_users *users)
{
    look(users);
    return users->count;
}
