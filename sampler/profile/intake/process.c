#include "process.h"

#include "../../include/isoscope/isoscope.h"
#include "../loops/watcher.h"
#include "../runtimes.h"
#include "process_events.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MODULES_STEP = 64,
};

static void watch_end(struct process *process)
{
    process->pidfd = -1;
    if (process->pid <= 0)
        return; /* of another pid namespace: only its socket tells */
    process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    process->dead = process->pidfd < 0 && errno == ESRCH;
}

/* Threads that were there before the clock. In another pid namespace their numbers mean nothing. */
static void add_others(struct process *process, const struct feed_clock_view *clock)
{
    uint32_t slots = feed_reader_slots(process->reader);
    struct feed_thread_view thread;

    if (process->pid != feed_reader_pid(process->reader))
        return;
    for (uint32_t slot = 1; slot < slots && slot < clock->before; slot++)
        if (feed_reader_thread(process->reader, slot, &thread) && thread.tid != clock->tid)
            held_clock_add(&process->clock, process->pid, thread.tid);
}

/* It ticks already, if the program was told so at its start. */
static void take_clock(struct process *process, int fd)
{
    struct feed_clock_view clock;

    feed_reader_clock(process->reader, &clock);
    held_clock_take(&process->clock, fd, clock.period_us, feed_reader_clock_is_on(process->reader));
    add_others(process, &clock);
}

static void close_given(int fd)
{
    if (fd >= 0)
        close(fd);
}

int process_new(struct process **out, int memfd, const struct profile_peer *peer)
{
    struct process *process = calloc(1, sizeof(*process));
    struct feed_reader *reader = NULL;
    int error = feed_reader_open(&reader, memfd);

    if (error || !process) {
        close_given(peer->clock);
        close_given(peer->faults);
        feed_reader_free(reader);
        free(process);
        return error ? error : -ISOSCOPE_NO_MEMORY;
    }
    process->reader = reader;
    process->pid = peer->pid;
    take_clock(process, peer->clock);
    held_faults_take(&process->faults, peer->faults);
    process->ppid = peer->ppid;
    snprintf(process->exe, sizeof(process->exe), "%s", peer->exe ? peer->exe : "");
    process->place = process_place_of(peer->pid);
    process->start_us = feed_reader_start_us(reader);
    watch_end(process);
    process->told_below = 1;
    *out = process;
    return 0;
}

void process_retire(struct process *process)
{
    for (uint32_t i = 0; i < process->slot_count; i++) {
        process_slot_release(process, &process->slots[i], process->ended_us);
        free(process->slots[i].asleep);
    }
    free(process->slots);
    process->slots = NULL;
    process->slot_count = 0;
    process_events_free(process->events, process->ended_us);
    process->events = NULL;
    watcher_leave(process->loops);
    process->loops = NULL;
    rounds_leave(process->wall);
    process->wall = NULL;
    for (int origin = 0; origin < 2; origin++)
        free(process->modules[origin].numbers);
    memset(process->modules, 0, sizeof(process->modules));
    free(process->told);
    process->told = NULL;
    process->told_room = 0;
    module_places_free(&process->places);
    library_events_free(&process->sampling.libraries);
    perf_map_free(process->perf_map);
    process->perf_map = NULL;
    map64_free(&process->names);
    process->names = (struct map64){ 0 };
    lock_names_free(&process->locks);
    code_frames_free(&process->codes);
    module_set_free(&process->met_now);
    feed_reader_free(process->reader);
    process->reader = NULL;
    held_clock_drop(&process->clock);
    held_faults_drop(&process->faults);
    if (process->pidfd >= 0)
        close(process->pidfd);
    process->pidfd = -1;
}

void process_free(struct process *process)
{
    if (!process)
        return;
    process_retire(process);
    live_set_free(process->live);
    owners_release(&process->owners);
    owner_release(process->event_owner);
    owner_release(process->service_owner);
    module_set_free(&process->met);
    free(process);
}

static bool is_dead(const struct process *process)
{
    struct pollfd wait = { .fd = process->pidfd, .events = POLLIN };

    if (process->dead)
        return true;
    if (process->pidfd >= 0)
        return poll(&wait, 1, 0) > 0;
    return process->pid > 0 && kill(process->pid, 0) < 0 && errno == ESRCH;
}

static bool has_execed(struct process *process, int64_t now_us)
{
    struct feed_head known;
    struct feed_status_view status;

    feed_reader_head(process->reader, &known);
    feed_reader_status(process->reader, &status);
    return program_is_gone(&process->proof, process->pid, &known, status.ticks, now_us);
}

bool process_has_ended(struct process *process, bool replaced, int64_t now_us)
{
    struct feed_clock_view clock;

    feed_reader_clock(process->reader, &clock);
    if (clock.stopped || is_dead(process))
        return true;
    process->execed = replaced || has_execed(process, now_us);
    return process->execed;
}

void process_follow_clock(struct process *process, const struct feed_settings *settings,
                          int64_t now_us)
{
    bool wanted = settings->enabled && settings->mode == FEED_MODE_CPU;
    struct feed_clock_view wish;

    feed_reader_clock(process->reader, &wish);
    if (held_clock_follow(&process->clock, process->pid, &wish, wanted ? settings->period_us : 0,
                          now_us))
        feed_reader_clock_runs(process->reader, process->clock.runs);
    held_faults_run(&process->faults, settings->enabled && settings->faults && !wish.stopped &&
                                          !process->clock.traced);
}

void process_follow_names(struct process *process, const struct feed_settings *settings,
                          int64_t now_us)
{
    thread_names_follow(&process->thread_names, process->reader, process->pid,
                        settings->mode == FEED_MODE_WALL, now_us);
}

void process_watch_loops(struct process *process, struct watcher *watcher, bool ended,
                         int64_t now_us)
{
    struct feed_status_view status;

    if (ended) {
        watcher_leave(process->loops);
        process->loops = NULL;
    }
    if (ended || !watcher)
        return;
    watcher_round(process->loops);
    process_status(process, &status);
    watcher_cpu(watcher, &process->cpu_rule, process->id, status.cpu_ns, now_us * 1000);
}

void process_status(const struct process *process, struct feed_status_view *out)
{
    enum feed_timer_reason reason = held_clock_reason(&process->clock);

    feed_reader_status(process->reader, out);
    out->cpu_ns -= out->cpu_ns < process->before_ns ? out->cpu_ns : process->before_ns;
    if (reason == FEED_TIMER_REASON_NONE || out->timer_reason != FEED_TIMER_REASON_NONE)
        return;
    out->timer = FEED_TIMER_CPU_CLOCK;
    out->timer_reason = reason;
}

/* False: it is not built yet. A forked child knows its parent's. */
static bool tell_table(struct process *process, uint32_t number, struct table_store *tables)
{
    struct feed_module_view view;
    struct table_place place;

    if (!feed_reader_module(process->reader, number, &view))
        return true;
    const struct module_file module = { .path = view.path,
                                        .build_id = view.build_id,
                                        .build_id_bytes = view.build_id_bytes,
                                        .pid = process->pid,
                                        .address = view.start };
    process->runtimes_now |= runtime_of(view.path);
    if (!table_store_ask(tables, &module, &place))
        return false;
    if (place.stripped_go)
        process->runtimes_now |= 1u << RUNTIME_GO;
    feed_reader_table(process->reader, number, place.at, place.bytes);
    return true;
}

/* Most programs have few modules, and there may be many programs: the array grows with its use.
 * Returns the array, zeros where it is new; NULL: there is no memory, and it is as it was. */
static void *reach(void *array, uint32_t *room, uint32_t number, size_t element_bytes)
{
    uint32_t wanted = (number / MODULES_STEP + 1) * MODULES_STEP;
    char *larger = array;

    if (number < *room)
        return array;
    larger = reallocarray(array, wanted, element_bytes);
    if (!larger)
        return NULL;
    memset(larger + *room * element_bytes, 0, (wanted - *room) * element_bytes);
    *room = wanted;
    return larger;
}

static bool reach_told(struct process *process, uint32_t count)
{
    bool *told = reach(process->told, &process->told_room, count, sizeof(*told));

    if (told)
        process->told = told;
    return told != NULL;
}

void process_tell_tables(struct process *process, struct table_store *tables)
{
    uint32_t count = feed_reader_modules(process->reader);
    bool any = false;

    if (process->told_below >= count || !reach_told(process, count))
        return;
    for (uint32_t number = process->told_below; number < count; number++) {
        if (feed_reader_has_table(process->reader, number))
            process->told[number] = true;
        if (!process->told[number] && tell_table(process, number, tables))
            any = process->told[number] = true;
        if (number == process->told_below && process->told[number])
            process->told_below++;
    }
    if (any)
        feed_reader_told(process->reader);
}

static bool view_module(void *context, uint32_t number, struct feed_module_view *out)
{
    struct process *process = context;

    return number < FEED_MODULES_MAX ? feed_reader_module(process->reader, number, out)
                                     : rounds_module(process->wall, number, out);
}

/* What its own code is there for. */
static void show_runtime(struct process *process, const struct runtime_place *place,
                         struct registry *registry)
{
    struct feed_module_view view;
    uint32_t number;

    if (!view_module(process, place->module, &view))
        return;
    number = registry_number(registry, view.path, view.build_id, view.build_id_bytes);
    if (number)
        module_runs(registry_module(registry, number), place->kind);
}

void process_find_runtimes(struct process *process, struct runtime_finder *finder,
                           struct registry *registry, const struct feed_settings *settings,
                           int64_t now_us)
{
    const struct runtime_modules modules = { process->reader, view_module, process };

    if (process->pid <= 0 || !(settings->wants & FEED_WANT_RUNTIMES))
        return;
    runtime_finder_look(finder, &process->looks, &modules, process->pid, process->exe, now_us);
    for (; process->runtimes_shown < process->looks.place_count; process->runtimes_shown++)
        show_runtime(process, &process->looks.places[process->runtimes_shown], registry);
}

/* NULL: there is no memory, or that is no number. */
static uint16_t *number_place(struct process *process, uint32_t feed_number)
{
    struct module_numbers *modules = &process->modules[feed_number >= FEED_MODULES_MAX];
    uint32_t number = feed_number % FEED_MODULES_MAX;
    uint16_t *numbers;

    if (feed_number >= 2 * FEED_MODULES_MAX)
        return NULL;
    numbers = reach(modules->numbers, &modules->room, number, sizeof(*numbers));
    if (!numbers)
        return NULL;
    modules->numbers = numbers;
    return &numbers[number];
}

/* 0 when the program has not said, or said nonsense. */
static uint32_t module_number(struct process *process, uint32_t feed_number,
                              struct registry *registry, struct symbolizer *symbolizer)
{
    struct feed_module_view view;
    uint16_t *place = number_place(process, feed_number);

    if (!place)
        return 0;
    if (!*place && view_module(process, feed_number, &view)) {
        uint32_t number = registry_number(registry, view.path, view.build_id, view.build_id_bytes);

        *place = (uint16_t)number;
        module_set_add(&process->met_now, number);
        registry_seen(registry_module(registry, number), process->pid, view.start, view.bias);
        /* It has a sample now, so its names will be asked for soon. */
        symbolizer_expect(symbolizer, registry_module(registry, number));
    }
    return *place;
}

uint32_t process_name(struct process *process, uint32_t place, struct names *names)
{
    char name[FEED_NAME_MAX + 1];
    uint32_t *number;
    bool added;

    if (!place || !(number = map64_put(&process->names, place, &added)))
        return 0;
    if (added && feed_reader_name(process->reader, place, name))
        *number = names_number(names, name);
    return *number;
}

/* A kind that does not exist is code in no module. */
static uint64_t named_frame(struct process *process, uint64_t feed_frame, struct registry *registry)
{
    uint32_t kind = FEED_FRAME_NAME_KIND(feed_frame);
    uint32_t place = FEED_FRAME_NAME(feed_frame);

    if (kind >= FEED_NAME_KIND_COUNT)
        return FRAME_KEY(0, place);
    return FRAME_KEY(registry_named(registry, (enum feed_name_kind)kind),
                     process_name(process, place, registry_names(registry)));
}

/* Code in no module: a JIT may have written down what it is. */
static uint64_t bare_frame(struct process *process, uint64_t pc, struct registry *registry)
{
    uint32_t name = 0;

    if (!process->perf_map && process->pid > 0)
        perf_map_new(&process->perf_map, process->pid);
    if (process->perf_map)
        name = perf_map_name(process->perf_map, pc, process->round_us, registry_names(registry));
    return name ? FRAME_KEY(registry_named(registry, FEED_NAME_JIT), name) : FRAME_KEY(0, pc);
}

static uint64_t kernel_frame(struct process *process, uint64_t feed_frame,
                             struct registry *registry, struct symbolizer *symbolizer)
{
    uint64_t offset;
    uint32_t number = registry_kernel(registry, FEED_FRAME_KERNEL_ADDRESS(feed_frame),
                                      process->round_us, &offset);

    if (number && !module_set_has(&process->met_now, number)) {
        module_set_add(&process->met_now, number);
        symbolizer_expect(symbolizer, registry_module(registry, number));
    }
    return FRAME_KEY(number, offset);
}

bool process_frame(struct process *process, uint64_t feed_frame, struct registry *registry,
                   struct symbolizer *symbolizer, uint64_t *out)
{
    uint32_t number;

    if (FEED_FRAME_MODULE(feed_frame) == FEED_MODULE_NAMED) {
        *out = named_frame(process, feed_frame, registry);
        return true;
    }
    if (FEED_FRAME_MODULE(feed_frame) == FEED_MODULE_CODE) {
        *out = code_frame(&process->codes, process->reader, process->pid, feed_frame, registry,
                          &process->met_now);
        return true;
    }
    if (FEED_FRAME_MODULE(feed_frame) == FEED_MODULE_KERNEL) {
        *out = kernel_frame(process, feed_frame, registry, symbolizer);
        return true;
    }
    /* The program met code before it knew the module: by now it may. */
    if (!FEED_FRAME_MODULE(feed_frame) && feed_frame != FEED_FRAME_GAP)
        feed_frame = module_places_find(&process->places, process->reader, feed_frame);
    number = FEED_FRAME_MODULE(feed_frame);
    if (number)
        number = module_number(process, number, registry, symbolizer);
    if (number && registry_module(registry, number)->sampler)
        return false;
    if (!FEED_FRAME_MODULE(feed_frame) && feed_frame != FEED_FRAME_GAP) {
        *out = bare_frame(process, feed_frame, registry);
        return true;
    }
    *out = FRAME_KEY(number, FEED_FRAME_OFFSET(feed_frame));
    return true;
}

uint64_t process_lock_frame(struct process *process, const struct feed_wait_words *words,
                            struct registry *registry, struct symbolizer *symbolizer)
{
#define WAIT_WORD(name, word) [FEED_WAIT_##name] = word,
    static const char *const whats[] = { FEED_WAITS(WAIT_WORD) };
#undef WAIT_WORD
    /* One lock, however a thread wants it. */
    const char *what = words->what == FEED_WAIT_READ || words->what == FEED_WAIT_WRITE
                           ? "rwlock"
                           : whats[words->what];
    uint64_t frame = FEED_FRAME(0, words->lock), out;

    if (feed_wait_is_off_cpu(words->what))
        return FRAME_KEY(registry_locks(registry), names_number(registry_names(registry), what));
    if (words->start < words->end)
        frame = module_places_find_in(&process->places, process->reader, words->lock, words->start,
                                      words->end);
    if (FEED_FRAME_MODULE(frame) && process_frame(process, frame, registry, symbolizer, &out))
        return out;
    return FRAME_KEY(registry_locks(registry),
                     lock_names_number(&process->locks, process->pid, words->lock, what,
                                       process->round_us, registry_names(registry)));
}

struct process_slot *process_slot(struct process *process, uint32_t slot)
{
    if (slot >= process->slot_count) {
        uint32_t count = (slot + 64) & ~UINT32_C(63);
        struct process_slot *slots;

        if (count <= slot)
            count = slot + 1;
        slots = reallocarray(process->slots, count, sizeof(*slots));
        if (!slots)
            return NULL;
        memset(slots + process->slot_count, 0, (count - process->slot_count) * sizeof(*slots));
        process->slots = slots;
        process->slot_count = count;
    }
    return &process->slots[slot];
}

void process_slot_release(struct process *process, struct process_slot *slot, int64_t at_us)
{
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        owner_thread_release(slot->threads[kind]);
        slot->threads[kind] = NULL;
    }
    if (slot->track)
        process_events_end_track(process->events, slot->track, at_us);
    slot->track = NULL;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

void process_describe(const struct process *process, struct owner_counts counts,
                      struct process_info *out)
{
    *out = (struct process_info){ .id = process->id,
                                  .pid = process->pid,
                                  .ppid = process->ppid,
                                  .start_us = process->start_us,
                                  .end_us = process->end_us,
                                  .end_number = process->end_number,
                                  .live = process->reader != NULL,
                                  .started = process->started,
                                  .exit_known = process->exit_known && !process->reader,
                                  .wait_status = process->wait_status,
                                  .samples = counts.samples,
                                  .evicted = counts.evicted,
                                  .corrupt = process->corrupt,
                                  .unstored = owners_unstored(&process->owners),
                                  .runtimes = process->runtimes & ~process->shown_runtimes,
                                  .place = process->place,
                                  .status = process->status };
    process_place_label(&process->place, out->place_label);
    snprintf(out->exe, sizeof(out->exe), "%s", process->exe);
    snprintf(out->unknown_runtime, sizeof(out->unknown_runtime), "%s", process->unknown_runtime);
    snprintf(out->name, sizeof(out->name), "%.63s", last_part(process->exe));
}
