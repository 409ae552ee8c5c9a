/*
 * registered_loop [ping] WORD... - a loop by loop.h, "jobs", with a stall limit of 400 ms of its own; or with ping
 * one that takes its jobs from other threads and tells neither begin nor end.
 *
 * Each WORD is a job: parts as stall_loop has them; "idle=PARTS", "progress=PARTS" and "nested=PARTS" do so with a
 * call of loop.h before each part: it rests for a second there (idle), it says that it goes on (progress), a
 * dispatch within the dispatch (nested). Prints what stall_loop prints. With ping it rests 300 ms before each.
 */
#include "stall_steps.h"

#include <isoscope/optional.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct isoscope_loop *loop;

/* Jobs that other threads gave; a loop with a condition variable, that nobody can watch from outside. */
struct job {
    void (*run)(void *argument);
    void *argument;
};
enum { JOBS_MAX = 64 };
static struct job jobs[JOBS_MAX];
static uint32_t jobs_put, jobs_taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static int post(void (*run)(void *argument), void *argument, void *context)
{
    int result = -1;

    (void)context;
    pthread_mutex_lock(&lock);
    if (jobs_put - jobs_taken < JOBS_MAX) {
        jobs[jobs_put++ % JOBS_MAX] = (struct job){ run, argument };
        pthread_cond_signal(&changed);
        result = 0;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static struct job take(void)
{
    struct job job;

    pthread_mutex_lock(&lock);
    while (jobs_put == jobs_taken)
        pthread_cond_wait(&changed, &lock);
    job = jobs[jobs_taken++ % JOBS_MAX];
    pthread_mutex_unlock(&lock);
    return job;
}

static void nap_ms(long ms)
{
    struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

    while (nanosleep(&left, &left) < 0)
        ;
}

static void before_part(const char *way)
{
    if (strcmp(way, "progress") == 0)
        isoscope_loop_progress(loop);
    else if (strcmp(way, "nested") == 0)
        isoscope_loop_begin(loop);
    else if (strcmp(way, "idle") == 0) {
        isoscope_loop_idle_enter(loop);
        nap_ms(1000);
        isoscope_loop_idle_leave(loop);
    }
}

static void after_part(const char *way)
{
    if (strcmp(way, "nested") == 0)
        isoscope_loop_end(loop);
}

/* PARTS, one at a time: step keeps the times of all. */
static void run_parts(struct step *step, const char *way, const char *parts)
{
    char text[STEP_TEXT_MAX], *rest = NULL;
    struct step one = { .begin_ns = 0 };

    snprintf(text, sizeof(text), "%s", parts);
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        before_part(way);
        snprintf(one.text, sizeof(one.text), "%s", word);
        step_run(&one);
        if (step->part_count < STEP_PARTS_MAX)
            step->parts[step->part_count++] = one.parts[0];
        after_part(way);
    }
}

static void run_word(const char *word, bool tells)
{
    struct step step = { .part_count = 0 };
    char way[STEP_TEXT_MAX], *parts;

    snprintf(step.text, sizeof(step.text), "%s", word);
    snprintf(way, sizeof(way), "%s", word);
    parts = strchr(way, '=');
    if (parts)
        *parts++ = 0;
    step.asked_ns = now_ns();
    if (tells)
        isoscope_loop_begin(loop);
    step.begin_ns = now_ns();
    run_parts(&step, parts ? way : "", parts ? parts : way);
    step.end_ns = now_ns();
    if (tells)
        isoscope_loop_end(loop);
    step.left_ns = now_ns();
    step_tell(&step, "step", 0);
}

static bool over;

static void job_word(void *word)
{
    run_word(word, false);
}

static void job_end(void *unused)
{
    (void)unused;
    over = true;
}

/* Another thread's work: a job now and then. */
static void *give_jobs(void *argument)
{
    char **words = argument;

    for (; *words; words++) {
        nap_ms(300);
        post(job_word, *words, NULL);
    }
    post(job_end, NULL, NULL);
    return NULL;
}

static int run_pinged(char **words)
{
    pthread_t giver;

    if (isoscope_loop_set_ping(loop, post, NULL) < 0)
        fputs("no pings\n", stderr);
    if (pthread_create(&giver, NULL, give_jobs, words) != 0)
        return 1;
    while (!over) {
        struct job job = take();

        job.run(job.argument);
    }
    pthread_join(giver, NULL);
    isoscope_loop_set_ping(loop, NULL, NULL);
    return 0;
}

int main(int argc, char **argv)
{
    struct isoscope_loop_options options = { .struct_size = sizeof(options), .stall_ms = 400 };
    int status = 0;

    steps_start();
    loop = isoscope_loop_register("jobs", &options);
    if (argc > 1 && strcmp(argv[1], "ping") == 0) {
        status = run_pinged(argv + 2);
    } else {
        for (char **word = argv + 1; *word; word++) {
            nap_ms(20);
            run_word(*word, true);
        }
    }
    isoscope_loop_unregister(loop);
    return status;
}
