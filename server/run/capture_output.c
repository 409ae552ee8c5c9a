#include "capture_output.h"

#include "../service/output_piece.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { JOIN_MS = 100 };

struct channel {
    struct capture_output *capture;
    int stream; /* 0: what goes to 1; 1: what goes to 2 */
    int source; /* our end; -1: the stream is closed */
    pthread_t thread;
    bool runs;
};

struct capture_output {
    struct channel channels[CAPTURE_STREAMS];
    int ends[CAPTURE_STREAMS];
    int finish; /* eventfd: the program has ended */
    int teller; /* socket; the threads write */
    int hearer; /* its other side, the service's; -1: taken */
    _Atomic uint64_t left_out;
};

/* A pseudoterminal that looks like target; what is written to it comes out unchanged, because the
 * real one behind it will do the changes. */
static int open_terminal(int target, int *source, int *end)
{
    struct termios modes;
    struct winsize size;
    char name[64];
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (master < 0)
        return -ISOSCOPE_SYSTEM;
    if (grantpt(master) < 0 || unlockpt(master) < 0 || ptsname_r(master, name, sizeof(name)) ||
        (*end = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
        close(master);
        return -ISOSCOPE_SYSTEM;
    }
    if (tcgetattr(target, &modes) == 0) {
        modes.c_oflag &= ~(tcflag_t)OPOST;
        tcsetattr(*end, TCSANOW, &modes);
    }
    if (ioctl(target, TIOCGWINSZ, &size) == 0)
        ioctl(*end, TIOCSWINSZ, &size);
    *source = master;
    return 0;
}

static int open_pipe(int *source, int *end)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -ISOSCOPE_SYSTEM;
    *source = ends[0];
    *end = ends[1];
    return 0;
}

static int open_channel(struct capture_output *capture, int stream)
{
    int target = STDOUT_FILENO + stream;
    struct channel *channel = &capture->channels[stream];

    *channel = (struct channel){ capture, stream, -1, 0, false };
    if (fcntl(target, F_GETFD) < 0)
        return 0;
    return isatty(target) ? open_terminal(target, &channel->source, &capture->ends[stream])
                          : open_pipe(&channel->source, &capture->ends[stream]);
}

static int open_all(struct capture_output *capture)
{
    int pair[2];

    capture->finish = eventfd(0, EFD_CLOEXEC);
    if (capture->finish < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -ISOSCOPE_SYSTEM;
    capture->teller = pair[0];
    capture->hearer = pair[1];
    for (int i = 0; i < CAPTURE_STREAMS; i++)
        if (open_channel(capture, i) < 0)
            return -ISOSCOPE_SYSTEM;
    return 0;
}

int capture_output_new(struct capture_output **out)
{
    struct capture_output *capture = calloc(1, sizeof(*capture));
    int status;

    if (!capture)
        return -ISOSCOPE_NO_MEMORY;
    capture->finish = capture->teller = capture->hearer = -1;
    for (int i = 0; i < CAPTURE_STREAMS; i++)
        capture->ends[i] = capture->channels[i].source = -1;
    status = open_all(capture);
    if (status < 0)
        capture_output_free(capture);
    else
        *out = capture;
    return status;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void capture_output_free(struct capture_output *capture)
{
    if (!capture)
        return;
    for (int i = 0; i < CAPTURE_STREAMS; i++) {
        /* Who still waits for our reader uses all this; the process ends soon. */
        if (capture->channels[i].runs)
            return;
        close_one(&capture->ends[i]);
        close_one(&capture->channels[i].source);
    }
    close_one(&capture->finish);
    close_one(&capture->teller);
    close_one(&capture->hearer);
    free(capture);
}

int capture_output_take_hearer(struct capture_output *capture)
{
    int hearer = capture->hearer;

    capture->hearer = -1;
    return hearer;
}

const int *capture_output_ends(const struct capture_output *capture)
{
    return capture->ends;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t count = write(fd, bytes, length);
        struct pollfd room = { .fd = fd, .events = POLLOUT };

        if (count < 0 && errno == EAGAIN) /* our caller's descriptor, and it does not block */
            poll(&room, 1, -1);
        else if (count < 0 && errno != EINTR)
            return false;
        if (count > 0) {
            bytes += count;
            length -= (size_t)count;
        }
    }
    return true;
}

static void tell(struct channel *channel, const struct output_piece *piece, size_t length)
{
    if (send(channel->capture->teller, piece, offsetof(struct output_piece, bytes) + length,
             MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        atomic_fetch_add(&channel->capture->left_out, length);
}

/* False when nothing more can come, or be given on. */
static bool copy_piece(struct channel *channel)
{
    struct output_piece piece = { .output = (uint8_t)channel->stream };
    ssize_t count = read(channel->source, piece.bytes, sizeof(piece.bytes));

    if (count <= 0) /* the end; of a pseudoterminal that is EIO */
        return count < 0 && errno == EINTR;
    if (!write_all(STDOUT_FILENO + channel->stream, piece.bytes, (size_t)count))
        return false;
    tell(channel, &piece, (size_t)count);
    return true;
}

/* Without waiting any more: what is left behind by the program may hold the other end for ever. */
static void copy_rest(struct channel *channel)
{
    struct pollfd more = { .fd = channel->source, .events = POLLIN };

    while (poll(&more, 1, 0) == 1 && more.revents & POLLIN && copy_piece(channel))
        continue;
}

static void *copy(void *context)
{
    struct channel *channel = context;
    struct pollfd either[2] = { { .fd = channel->source, .events = POLLIN },
                                { .fd = channel->capture->finish, .events = POLLIN } };
    bool more = true;

    while (more && !(either[1].revents & POLLIN)) {
        if (poll(either, 2, -1) > 0 && either[0].revents)
            more = copy_piece(channel);
    }
    if (more)
        copy_rest(channel);
    /* The next write of the program ends as it would have on our own output. */
    close_one(&channel->source);
    return NULL;
}

int capture_output_begin(struct capture_output *capture)
{
    for (int i = 0; i < CAPTURE_STREAMS; i++) {
        struct channel *channel = &capture->channels[i];
        int problem;

        close_one(&capture->ends[i]);
        if (channel->source < 0)
            continue;
        /* From here on its source is the thread's, which may be done with it at once. */
        problem = pthread_create(&channel->thread, NULL, copy, channel);
        if (problem) {
            errno = problem;
            return -ISOSCOPE_SYSTEM;
        }
        channel->runs = true;
    }
    return 0;
}

/* The signals are blocked: the loop would take them, but it stands still. */
static bool interrupted(void)
{
    sigset_t pending;

    sigpending(&pending);
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
           sigismember(&pending, SIGHUP) == 1 || sigismember(&pending, SIGQUIT) == 1;
}

static bool join_channel(struct channel *channel)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += JOIN_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    return pthread_timedjoin_np(channel->thread, NULL, &until) == 0;
}

void capture_output_finish(struct capture_output *capture)
{
    eventfd_write(capture->finish, 1);
    for (int i = 0; i < CAPTURE_STREAMS; i++) {
        struct channel *channel = &capture->channels[i];

        while (channel->runs && !interrupted())
            channel->runs = !join_channel(channel);
    }
}

uint64_t capture_output_left_out(const struct capture_output *capture)
{
    return atomic_load(&capture->left_out);
}
