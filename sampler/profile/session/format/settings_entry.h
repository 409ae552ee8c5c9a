/*
 * settings_entry.h - what a session is, what was asked of its programs, and sums over them: HEAD,
 * SETT.
 *
 * Errors     As entry.h.
 */
#ifndef ISOSCOPE_SESSION_SETTINGS_ENTRY_H
#define ISOSCOPE_SESSION_SETTINGS_ENTRY_H

#include "../../saved.h"
#include "../../timeline.h"
#include "../../snapshot.h"
#include "entry.h"

struct session_head {
    char producer[64], host[256], machine[72], cpu[256];
    int64_t start_us, wall_start_us;
    json_t *command; /* a list of texts; NULL: not known */
};

/* Of this machine, now. start_us: when the session begins. */
void session_head_here(struct session_head *out, int64_t start_us, const char *cpu,
                       const char *const *command);
/* What a session was, that is written once more. */
void session_head_again(struct session_head *head, const struct saved_session *session);
void session_head_free(struct session_head *head);
json_t *session_head_write(const struct session_head *head);
void session_head_entry(struct entry *entry, struct session_head *out);

struct session_settings {
    struct feed_settings settings;
    struct profile_cpu cpu;
    uint64_t events_missed;
    struct timeline_history events; /* of it, what the store missed */
    uint64_t missed;                /* samples that the store let go before they were written */
};

json_t *settings_entry_write(const struct session_settings *settings);
void settings_entry_read(struct entry *entry, struct session_settings *out);

#endif
