/*
 * profile_fixture.h - what tests of whole profiles begin with: a program of one module, that feeds them.
 *
 *     fixture_begin(build_id), more threads and entries of the feed, fixture_attach; fixture_end
 */
#ifndef PROFILE_FIXTURE_H
#define PROFILE_FIXTURE_H

#include "fake_elf.h"
#include "fake_feed.h"
#include "sampler/profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Offsets in the fixture's module: a and b have symbols, unnamed has none. */
enum { A = 0x1000, B = 0x1100, UNNAMED = 0x1800 };

struct fixture {
    struct profile *profile;
    struct fake_feed feed;
    uint64_t id;
    uint32_t slot, module; /* of thread 7, "main" */
    uint32_t other_slot;
    int64_t time_us;
    char directory[64], path[128], session[128];
};

/* build_id: 20 bytes; NULL: the module has none. */
static inline struct fixture *fixture_begin(const uint8_t *build_id)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct fake_elf elf = { .symbols = { { "_Z1av", A, 0x100, STB_GLOBAL, STT_FUNC },
                                         { "b", B, 0x100, STB_GLOBAL, STT_FUNC } } };

    if (build_id)
        memcpy(elf.build_id, build_id, 20);
    fake_directory(fixture->directory);
    snprintf(fixture->path, sizeof(fixture->path), "%s/app", fixture->directory);
    snprintf(fixture->session, sizeof(fixture->session), "%s/s.isoscope", fixture->directory);
    fake_elf_write(fixture->path, &elf);
    fake_feed_open(&fixture->feed, getpid());
    fixture->slot = fake_feed_thread(&fixture->feed, 7, "main");
    fixture->module = fake_feed_module(&fixture->feed, fixture->path);
    if (build_id) {
        memcpy(fake_feed_entry(&fixture->feed, fixture->module)->build_id, build_id, 20);
        fake_feed_entry(&fixture->feed, fixture->module)->build_id_bytes = 20;
    }
    return fixture;
}

/* Another process of that pid: its id; 0: it was not taken. */
static inline uint64_t fixture_attach_feed(struct fixture *fixture, const struct fake_feed *feed,
                                           int32_t pid)
{
    struct profile_peer peer = {
        .pid = pid, .ppid = 1, .clock = -1, .faults = -1, .exe = "/usr/bin/program"
    };
    uint64_t id = 0;

    return profile_attach(fixture->profile, fake_feed_memfd(feed), &peer, &id) < 0 ? 0 : id;
}

/* As cmocka wants it of a setup. */
static inline int fixture_attach(struct fixture *fixture)
{
    if (profile_new(&fixture->profile, &(struct profile_options){ .settings.enabled = true }) < 0)
        return -1;
    fixture->id = fixture_attach_feed(fixture, &fixture->feed, getpid());
    return fixture->id ? 0 : -1;
}

static inline int fixture_end(struct fixture *fixture)
{
    profile_free(fixture->profile);
    fake_feed_close(&fixture->feed);
    unlink(fixture->path);
    unlink(fixture->session);
    rmdir(fixture->directory);
    free(fixture);
    return 0;
}

#endif
