#include "session_upload.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../push/symbol_store.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/profile.h"
#include "../../sampler/profile/saved.h"
#include "../../sampler/profile/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KIB = 1024, OUTCOMES = SYMBOL_TROUBLE + 1 };

struct uploading {
    const struct session_upload_options *options;
    struct symbol_store *store;
    unsigned counts[OUTCOMES];
};

/* Several modules may be one build: copies of a file. */
static bool is_first(const struct snapshot_library *libraries, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (!strcmp(libraries[i].build_id, libraries[at].build_id))
            return false;
    return true;
}

static bool is_wanted(const struct snapshot_library *libraries, uint32_t at)
{
    return libraries[at].build_id[0] && libraries[at].path[0] == '/' && is_first(libraries, at);
}

static void show(const struct uploading *uploading, const struct snapshot_library *library,
                 enum symbol_stored stored, const struct symbol_report *report)
{
    const char *const words[OUTCOMES] = {
        [SYMBOL_SENT] = uploading->options->dry ? "would be sent" : "sent",
        [SYMBOL_THERE] = "is there",
        [SYMBOL_NO_FILE] = "not here",
        [SYMBOL_LARGE] = "too large",
        [SYMBOL_REFUSED] = "refused",
        [SYMBOL_TROUBLE] = "not sent",
    };

    printf("%-13s %8" PRIu64 " KiB  %s  %s%s%s\n", words[stored], (report->bytes + KIB - 1) / KIB,
           library->build_id, library->path, report->reason[0] ? ": " : "", report->reason);
    fflush(stdout); /* a large one takes its time */
}

/* False: the others would fare no better. */
static bool upload(struct uploading *uploading, const struct snapshot_library *library)
{
    struct symbol_report report;
    enum symbol_stored stored =
        symbol_store_module(uploading->store, library->path, library->build_id, &report);

    uploading->counts[stored]++;
    show(uploading, library, stored, &report);
    return stored != SYMBOL_TROUBLE;
}

static void upload_all(struct uploading *uploading, const struct snapshot *snapshot)
{
    uint32_t count;
    const struct snapshot_library *libraries = snapshot_libraries(snapshot, &count);

    for (uint32_t i = 0; i < count; i++)
        if (is_wanted(libraries, i) && !upload(uploading, &libraries[i]))
            return;
}

static int say_end(const struct uploading *uploading)
{
    const unsigned *counts = uploading->counts;

    log_line("--upload: %u %s, %u were there, %u have no symbols here, %u too large, %u refused",
             counts[SYMBOL_SENT], uploading->options->dry ? "would be sent" : "sent",
             counts[SYMBOL_THERE], counts[SYMBOL_NO_FILE], counts[SYMBOL_LARGE],
             counts[SYMBOL_REFUSED]);
    if (!counts[SYMBOL_TROUBLE])
        return counts[SYMBOL_REFUSED] ? STATUS_REFUSED : STATUS_OK;
    log_line("--upload: the store is in trouble; repeat the command later: what is there is not "
             "sent again");
    return STATUS_UNSENT;
}

static int upload_session(struct uploading *uploading, struct profile *profile)
{
    const struct snapshot_window window = { .partial_names_ok = true };
    struct snapshot *snapshot;
    struct saved_problem problem;

    if (snapshot_take(&snapshot, profile, &window) < 0) {
        if (!saved_damage(profile, &problem))
            snprintf(problem.reason, sizeof(problem.reason), "out of memory");
        log_line("cannot read %s: %s", uploading->options->file, problem.reason);
        return STATUS_FAILED;
    }
    upload_all(uploading, snapshot);
    snapshot_free(snapshot);
    return say_end(uploading);
}

static int open_session(struct profile **out, const char *file)
{
    const struct saved_options saved = { 0 };
    struct saved_problem problem = { 0 };
    int status = profile_open_saved(out, &saved, &file, 1, &problem);

    if (status == 0)
        return STATUS_OK;
    if (problem.reason[0])
        log_line("%s: byte %" PRIu64 ": %s", file, problem.position, problem.reason);
    else
        log_line("cannot read %s: out of memory", file);
    return problem.reason[0] ? STATUS_USAGE : STATUS_FAILED;
}

int session_upload(const struct session_upload_options *options)
{
    const struct symbol_store_plan plan = { options->url, options->headers, options->bytes_max,
                                            options->dry };
    struct uploading uploading = { .options = options };
    struct profile *profile = NULL;
    char error[512];
    int status = symbol_store_new(&uploading.store, &plan, error, sizeof(error));

    if (status < 0) {
        log_line("--upload: %s", error);
        return status == -ISOSCOPE_INVALID ? STATUS_USAGE : STATUS_FAILED;
    }
    status = open_session(&profile, options->file);
    if (status == STATUS_OK)
        status = upload_session(&uploading, profile);
    profile_free(profile);
    symbol_store_free(uploading.store);
    return status;
}
