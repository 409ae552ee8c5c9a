/*
 * gives_processor_away.c - a program whose threads wait for known times in known functions.
 *
 *     gives_processor_away ROUNDS      says "ready" and the tid of its second thread, waits for a line, and then has ROUNDS of
 *
 *     nap       sleeps by time
 *     partner   waits for the other thread, which naps and then wakes it
 *
 * and says how many microseconds it was in each.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 10, PARTNER_MS = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static long questions, answers;
static int waker;
static pthread_barrier_t begun;

static long long now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void sleep_ms(long milliseconds)
{
    const struct timespec time = { 0, milliseconds * 1000000 };

    nanosleep(&time, NULL);
}

static void *answer(void *unused)
{
    (void)unused;
    waker = (int)syscall(SYS_gettid);
    pthread_barrier_wait(&begun);
    for (;;) {
        pthread_mutex_lock(&lock);
        while (questions == answers)
            pthread_cond_wait(&asked, &lock);
        pthread_mutex_unlock(&lock);
        sleep_ms(PARTNER_MS);
        pthread_mutex_lock(&lock);
        answers++;
        pthread_cond_signal(&answered);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static __attribute__((noinline)) long long nap(void)
{
    long long before = now_us();

    sleep_ms(NAP_MS);
    return now_us() - before;
}

static __attribute__((noinline)) long long partner(void)
{
    long long before = now_us();

    pthread_mutex_lock(&lock);
    questions++;
    pthread_cond_signal(&asked);
    while (answers < questions)
        pthread_cond_wait(&answered, &lock);
    pthread_mutex_unlock(&lock);
    return now_us() - before;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    long long napped = 0, waited = 0;
    pthread_t thread;

    pthread_barrier_init(&begun, NULL, 2);
    if (pthread_create(&thread, NULL, answer, NULL) != 0)
        return 2;
    pthread_barrier_wait(&begun);
    printf("ready %d\n", waker);
    fflush(stdout);
    getchar();
    for (long i = 0; i < rounds; i++) {
        napped += nap();
        waited += partner();
    }
    printf("nap %lld\npartner %lld\n", napped, waited);
    fflush(stdout);
    getchar();
    return 0;
}
