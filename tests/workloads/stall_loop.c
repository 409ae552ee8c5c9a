/*
 * stall_loop [-w WAITS] WORD... [+ WORD...]... - an epoll loop of which each WORD is one dispatch.
 *
 *     PART:MS[,PART:MS...]    does these parts (stall_steps.h), one behind the other; N*... does so in N dispatches
 *     wait:MS                 no dispatch: the loop rests for so long
 *     quiet                   from here on it does not wake each 5 ms to see whether there is more
 *     ticks                   it never ends
 *     fork, exec              a child does the rest as well; the program's next image does the rest
 *     -                       lines of standard input are the words that follow, until its end
 *
 * It waits WAITS times (400), a millisecond each, before its first word. What stands behind a + is another
 * thread's ("loop1", "loop2", ...). After each dispatch it prints a line of JSON with the times of it: "asked" and
 * "left" are before the wait that it came from and after the wait that followed, neither of which had to wait;
 * "begin" and "end" are inside of it. A line that says "next" comes before each.
 */
#include "stall_steps.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 5, LOOPS_MAX = 32, INPUT_MAX = 4096 };
enum state { WAITING, READY, LEAVING };

struct loop {
    int number, epoll, ready; /* ready: an eventfd that is always readable */
    char **words;
    int word_count, warm;
    bool quiet, has_input, goes_on;
    char input[INPUT_MAX]; /* lines that were read and not done */
    size_t input_bytes;
    long repeats; /* of step, that are left */
    int64_t rests_until_ns;
    enum state state;
    struct step step;
};

static const char *program;

static void loop_watch(struct loop *loop, int operation, int descriptor, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.fd = descriptor };

    if (epoll_ctl(loop->epoll, operation, descriptor, &event) < 0) {
        perror("epoll_ctl");
        exit(1);
    }
}

static void loop_open(struct loop *loop)
{
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->ready = eventfd(1, EFD_CLOEXEC);
    loop_watch(loop, EPOLL_CTL_ADD, loop->ready, 0);
    if (loop->has_input)
        loop_watch(loop, EPOLL_CTL_ADD, STDIN_FILENO, EPOLLIN);
}

static void loop_enter(struct loop *loop, enum state state)
{
    bool was_armed = loop->state != WAITING, armed = state != WAITING;

    loop->state = state;
    if (armed != was_armed)
        loop_watch(loop, EPOLL_CTL_MOD, loop->ready, armed ? EPOLLIN : 0);
}

static void loop_fork(struct loop *loop)
{
    pid_t child = fork();

    if (child != 0)
        return;
    close(loop->epoll);
    close(loop->ready);
    loop->has_input = false;
    loop_open(loop);
}

static void loop_exec(struct loop *loop)
{
    char *words[64] = { "stall_loop" };
    int count = 1;

    for (int i = 0; i < loop->word_count && count < 63; i++)
        words[count++] = loop->words[i];
    execv(program, words);
    perror("execv");
    exit(1);
}

/* A word that is no dispatch is done here. */
static void loop_take_word(struct loop *loop, const char *word)
{
    char *times = strchr(word, '*');

    loop->repeats = 0;
    if (strncmp(word, "wait:", 5) == 0) {
        loop->rests_until_ns = now_ns() + (int64_t)(atof(word + 5) * 1e6);
    } else if (strcmp(word, "quiet") == 0) {
        loop->quiet = true;
    } else if (strcmp(word, "ticks") == 0) {
        loop->goes_on = true;
    } else if (strcmp(word, "fork") == 0) {
        loop_fork(loop);
    } else if (strcmp(word, "exec") == 0) {
        loop_exec(loop);
    } else {
        loop->repeats = times ? atol(word) : 1;
        snprintf(loop->step.text, sizeof(loop->step.text), "%s", times ? times + 1 : word);
    }
}

/* False: there is none yet. */
static bool loop_take_line(struct loop *loop)
{
    char line[STEP_TEXT_MAX], *end = memchr(loop->input, '\n', loop->input_bytes);
    size_t length;

    if (!end)
        return false;
    *end = 0;
    length = (size_t)(end - loop->input) + 1;
    if (length > sizeof(line))
        exit(2);
    memcpy(line, loop->input, length);
    loop->input_bytes -= length;
    memmove(loop->input, loop->input + length, loop->input_bytes);
    loop_take_word(loop, line);
    return true;
}

static void loop_read(struct loop *loop)
{
    ssize_t count =
        read(STDIN_FILENO, loop->input + loop->input_bytes, INPUT_MAX - loop->input_bytes);

    if (count > 0) {
        loop->input_bytes += (size_t)count;
        return;
    }
    loop->has_input = false;
    loop_watch(loop, EPOLL_CTL_DEL, STDIN_FILENO, 0);
}

/* Until there is a dispatch, or nothing for now. */
static void loop_take(struct loop *loop)
{
    while (loop->repeats == 0 && now_ns() >= loop->rests_until_ns) {
        if (loop->word_count > 0 && strcmp(loop->words[0], "-") != 0) {
            loop->word_count--;
            loop_take_word(loop, *loop->words++);
        } else if (!loop_take_line(loop)) {
            break;
        }
    }
    if (loop->repeats == 0)
        return;
    loop->repeats--;
    step_tell(&loop->step, "next", loop->number);
    loop_enter(loop, READY);
}

static bool loop_is_done(const struct loop *loop)
{
    return loop->state == WAITING && loop->repeats == 0 && !loop->has_input && !loop->goes_on &&
           (loop->word_count == 0 || strcmp(loop->words[0], "-") == 0) &&
           now_ns() >= loop->rests_until_ns;
}

static int loop_timeout(const struct loop *loop)
{
    if (loop->warm > 0)
        return 1;
    if (loop->rests_until_ns > now_ns())
        return (int)((loop->rests_until_ns - now_ns()) / 1000000) + 1;
    return loop->quiet ? -1 : TICK_MS;
}

static void loop_dispatch(struct loop *loop, int64_t asked_ns, int64_t woken_ns, bool readable)
{
    if (loop->state == READY) {
        loop->step.asked_ns = asked_ns;
        loop->step.begin_ns = woken_ns;
        step_run(&loop->step);
        loop->step.end_ns = now_ns();
        loop_enter(loop, LEAVING);
        return;
    }
    if (loop->state == LEAVING) {
        loop->step.left_ns = woken_ns;
        step_tell(&loop->step, "step", loop->number);
        loop_enter(loop, WAITING);
    }
    if (readable)
        loop_read(loop);
    if (loop->warm > 0)
        loop->warm--;
    else
        loop_take(loop);
}

__attribute__((noinline)) static void *loop_run(void *argument)
{
    struct loop *loop = argument;

    loop_open(loop);
    while (loop->warm > 0 || !loop_is_done(loop)) {
        struct epoll_event events[2];
        int timeout = loop_timeout(loop);
        int64_t asked_ns = now_ns();
        int count = epoll_wait(loop->epoll, events, 2, timeout);
        int64_t woken_ns = now_ns();
        bool readable = false;

        for (int i = 0; i < count; i++)
            readable |= events[i].data.fd == STDIN_FILENO;
        loop_dispatch(loop, asked_ns, woken_ns, readable);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct loop loops[LOOPS_MAX];
    static char path[4096];
    pthread_t threads[LOOPS_MAX];
    int count = 1, warm = 400;

    if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
        return 1;
    program = path;
    if (argc > 2 && strcmp(argv[1], "-w") == 0) {
        warm = atoi(argv[2]);
        argv += 2;
        argc -= 2;
    }
    loops[0] = (struct loop){ .words = argv + 1, .warm = warm };
    for (int i = 1; i < argc; i++) {
        struct loop *loop = &loops[count - 1];

        if (strcmp(argv[i], "+") == 0 && count < LOOPS_MAX) {
            loops[count] = (struct loop){ .words = argv + i + 1, .number = count, .warm = warm };
            count++;
            continue;
        }
        loop->word_count++;
        loop->has_input = strcmp(argv[i], "-") == 0;
    }
    steps_start();
    for (int i = 1; i < count; i++) {
        char name[16];

        if (pthread_create(&threads[i], NULL, loop_run, &loops[i]) != 0)
            return 1;
        snprintf(name, sizeof(name), "loop%d", i);
        pthread_setname_np(threads[i], name);
    }
    loop_run(&loops[0]);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    while (wait(NULL) > 0)
        ;
    return 0;
}
