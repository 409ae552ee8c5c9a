/*
 * game.c - a game loop that tells its frames: slices, a counter, flows and loads beside the samples.
 *
 *     isoscope run --keep -- build/examples/game 20
 *
 * The main thread moves particles, and hands what is to be drawn to a render thread, 60 times a
 * second; a loader reads levels meanwhile. Each HITCH_EVERY-th frame sorts all that there is, and is
 * late: the page's chart shows it in the strip of frames, and below it why. Built with optional.h:
 * without isoscope it runs alike, and tells nobody.
 */
#include <isoscope/optional.h>

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RATE = 60, HITCH_EVERY = 45, LOAD_EVERY = 100 };
enum { PARTICLES = 4000, STEPS = 60, BLOB = 12, WIDTH = 160, HEIGHT = 90, LEVEL_SIZE = 1 << 16 };

struct particle {
    float x, y, dx, dy;
};

/* What the main thread gives to the render thread, one picture at a time. */
struct picture {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct particle particles[PARTICLES];
    uint64_t number;       /* of its frame */
    bool is_waiting, over; /* to be drawn; no more will come */
    uint64_t raster_ns;    /* of the last one */
};

struct game {
    struct particle particles[PARTICLES];
    struct picture picture;
    uint64_t frame;
    long hits; /* particles that came to a wall, in this frame */
    unsigned seed;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static float random_part(struct game *game)
{
    game->seed = game->seed * 1664525 + 1013904223;
    return (float)(game->seed >> 8) / (1 << 24);
}

static void scatter(struct game *game)
{
    for (int i = 0; i < PARTICLES; i++) {
        struct particle *one = &game->particles[i];

        one->x = WIDTH * random_part(game);
        one->y = HEIGHT * random_part(game);
        one->dx = 2 * random_part(game) - 1;
        one->dy = 2 * random_part(game) - 1;
    }
}

/* ---- a frame, on the main thread ---- */

static void collide(struct game *game)
{
    ISOSCOPE_SCOPE("Game", "collide");
    game->hits = 0;
    for (int i = 0; i < PARTICLES; i++) {
        struct particle *one = &game->particles[i];

        if (one->x < 0 || one->x >= WIDTH) {
            one->dx = -one->dx;
            game->hits++;
        }
        if (one->y < 0 || one->y >= HEIGHT) {
            one->dy = -one->dy;
            game->hits++;
        }
    }
}

static void move(struct game *game)
{
    ISOSCOPE_SCOPE("Game", "move");
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < PARTICLES; i++) {
            struct particle *one = &game->particles[i];
            float turn = 0.01f * sinf(one->x * 0.1f + (float)game->frame * 0.01f);

            one->dx += turn * one->dy;
            one->dy -= turn * one->dx;
            one->x += one->dx / STEPS;
            one->y += one->dy / STEPS;
        }
}

static int by_distance(const void *a, const void *b)
{
    const struct particle *one = a, *other = b;
    float difference = hypotf(one->x, one->y) - hypotf(other->x, other->y);

    return difference < 0 ? -1 : difference > 0;
}

/* Why some frames are late. */
static void sort_all(struct game *game)
{
    uint64_t end_ns = now_ns() + 55 * 1000000;

    ISOSCOPE_BEGIN_WITH("Game", "sort", ISOSCOPE_UINT("particles", PARTICLES),
                        ISOSCOPE_TEXT("by", "distance"));
    do {
        scatter(game);
        qsort(game->particles, PARTICLES, sizeof game->particles[0], by_distance);
    } while (now_ns() < end_ns);
    ISOSCOPE_END("Game");
}

static void update(struct game *game)
{
    ISOSCOPE_SCOPE("Game", "update");
    move(game);
    collide(game);
    if (game->frame % HITCH_EVERY == HITCH_EVERY - 1)
        sort_all(game);
    ISOSCOPE_COUNTER("Game", "hits", ISOSCOPE_INT("hits", game->hits));
}

/* Waits until the picture before is drawn. Returns how long that one took. */
static uint64_t hand_over(struct game *game)
{
    struct picture *picture = &game->picture;
    uint64_t raster_ns;

    ISOSCOPE_SCOPE("Game", "hand over");
    pthread_mutex_lock(&picture->lock);
    while (picture->is_waiting)
        pthread_cond_wait(&picture->changed, &picture->lock);
    for (int i = 0; i < PARTICLES; i++)
        picture->particles[i] = game->particles[i];
    picture->number = game->frame;
    picture->is_waiting = true;
    raster_ns = picture->raster_ns;
    ISOSCOPE_FLOW_BEGIN("Render", "picture", game->frame);
    pthread_cond_signal(&picture->changed);
    pthread_mutex_unlock(&picture->lock);
    return raster_ns;
}

static void one_frame(struct game *game)
{
    struct isoscope_frame frame = { .struct_size = sizeof frame,
                                    .has_parts = 1,
                                    .number = game->frame };

    frame.start_ns = now_ns();
    ISOSCOPE_BEGIN_WITH("Game", "frame", ISOSCOPE_UINT("number", game->frame));
    update(game);
    frame.build_ns = now_ns() - frame.start_ns;
    frame.raster_ns = hand_over(game);
    ISOSCOPE_END("Game");
    frame.elapsed_ns = now_ns() - frame.start_ns;
    isoscope_event_frame(&frame);
    game->frame++;
}

/* ---- the other threads ---- */

static void draw(const struct picture *picture)
{
    static float pixels[HEIGHT][WIDTH];

    ISOSCOPE_SCOPE("Render", "draw");
    ISOSCOPE_FLOW_END("Render", "picture", picture->number);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            pixels[y][x] *= 0.9f;
    for (int i = 0; i < PARTICLES; i++) {
        const struct particle *one = &picture->particles[i];

        for (int spot = 0; spot < BLOB * BLOB; spot++) {
            int x = (int)one->x + spot % BLOB, y = (int)one->y + spot / BLOB;

            if (x >= 0 && y >= 0 && x < WIDTH && y < HEIGHT)
                pixels[y][x] += sqrtf((float)(spot + 1));
        }
    }
}

static void *render(void *argument)
{
    struct picture *picture = argument;

    pthread_setname_np(pthread_self(), "render");
    pthread_mutex_lock(&picture->lock);
    for (;;) {
        uint64_t start_ns;

        while (!picture->is_waiting && !picture->over)
            pthread_cond_wait(&picture->changed, &picture->lock);
        if (!picture->is_waiting)
            break;
        start_ns = now_ns();
        draw(picture);
        picture->raster_ns = now_ns() - start_ns;
        picture->is_waiting = false;
        pthread_cond_signal(&picture->changed);
    }
    pthread_mutex_unlock(&picture->lock);
    return NULL;
}

static void *load(void *argument)
{
    uint64_t level = (uint64_t)(uintptr_t)argument;
    unsigned sum = (unsigned)level;

    pthread_setname_np(pthread_self(), "loader");
    ISOSCOPE_SCOPE("IO", "unpack");
    for (int round = 0; round < 100; round++)
        for (int i = 0; i < LEVEL_SIZE; i++)
            sum = (sum << 5 | sum >> 27) ^ (unsigned)i;
    ISOSCOPE_INSTANT_WITH("IO", "loaded", ISOSCOPE_UINT("checksum", sum));
    ISOSCOPE_ASYNC_END("IO", "level", level);
    return NULL;
}

/* Nobody waits for it. */
static void load_level(uint64_t level)
{
    pthread_t thread;

    ISOSCOPE_ASYNC_BEGIN("IO", "level", level);
    if (pthread_create(&thread, NULL, load, (void *)(uintptr_t)level) == 0)
        pthread_detach(thread);
}

static void play(struct game *game, uint64_t frames)
{
    uint64_t due_ns = now_ns();

    while (game->frame < frames) {
        struct timespec due;

        if (game->frame % LOAD_EVERY == 10)
            load_level(game->frame / LOAD_EVERY);
        one_frame(game);
        due_ns += 1000000000 / RATE;
        if (due_ns < now_ns())
            due_ns = now_ns(); /* late: nothing is caught up */
        due = (struct timespec){ .tv_sec = (time_t)(due_ns / 1000000000),
                                 .tv_nsec = (long)(due_ns % 1000000000) };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    }
}

int main(int argc, char **argv)
{
    static struct game game = { .seed = 1,
                                .picture = { .lock = PTHREAD_MUTEX_INITIALIZER,
                                             .changed = PTHREAD_COND_INITIALIZER } };
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    pthread_t renderer;

    if (!(seconds > 0)) {
        fprintf(stderr, "usage: game [SECONDS]\n");
        return 2;
    }
    scatter(&game);
    if (pthread_create(&renderer, NULL, render, &game.picture) != 0) {
        fprintf(stderr, "game: no thread could be started\n");
        return 1;
    }
    play(&game, (uint64_t)(seconds * RATE));
    pthread_mutex_lock(&game.picture.lock);
    game.picture.over = true;
    pthread_cond_signal(&game.picture.changed);
    pthread_mutex_unlock(&game.picture.lock);
    pthread_join(renderer, NULL);
    printf("%llu frames\n", (unsigned long long)game.frame);
    return 0;
}
