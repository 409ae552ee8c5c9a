/* What the service believes of a program that says hello. */
#include "server/feeds/feed_hello.h"

#include "sampler/feed/layout.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct pair {
    int program, service;
};

static int open_pair(void **state)
{
    static struct pair pair;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    pair = (struct pair){ ends[0], ends[1] };
    *state = &pair;
    return 0;
}

static int close_pair(void **state)
{
    const struct pair *pair = *state;

    if (pair->program >= 0)
        close(pair->program);
    close(pair->service);
    return 0;
}

static struct feed_hello good_hello(void)
{
    struct feed_hello hello = {
        .head = { FEED_MESSAGE_MAGIC, FEED_VERSION, FEED_MESSAGE_HELLO },
        .pid = getpid(),
        .ppid = getppid(),
        .origin = FEED_ORIGIN_EXEC,
        .exe = "/bin/prog",
    };

    return hello;
}

/* Sends size bytes with so many memfds. */
static void send_with(int socket, const void *bytes, size_t size, int descriptors)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(8 * sizeof(int))];
    } control = { 0 };
    struct iovec part = { (void *)bytes, size };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    int fds[8];

    for (int i = 0; i < descriptors; i++)
        fds[i] = memfd_create("test", MFD_CLOEXEC);
    if (descriptors) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE((size_t)descriptors * sizeof(int));
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN((size_t)descriptors * sizeof(int));
        memcpy(CMSG_DATA(&control.head), fds, (size_t)descriptors * sizeof(int));
    }
    assert_int_equal(sendmsg(socket, &message, 0), size);
    for (int i = 0; i < descriptors; i++)
        close(fds[i]);
}

static unsigned open_descriptors(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void assert_nonsense(const struct pair *pair, const void *bytes, size_t size,
                            int descriptors)
{
    struct feed_greeting greeting;
    unsigned before = open_descriptors();

    send_with(pair->program, bytes, size, descriptors);
    assert_int_equal(feed_receive(&greeting, pair->service, geteuid()), FEED_RECEIVED_NONSENSE);
    assert_int_equal(open_descriptors(), before); /* what came with it is closed */
}

static void a_good_hello_brings_its_memory(void **state)
{
    const struct pair *pair = *state;
    const struct feed_hello hello = good_hello();
    struct feed_greeting greeting;

    send_with(pair->program, &hello, sizeof(hello), 1);
    assert_int_equal(feed_receive(&greeting, pair->service, geteuid()), FEED_RECEIVED_HELLO);
    assert_int_equal(greeting.pid, getpid());
    assert_int_equal(greeting.ppid, getppid());
    assert_int_equal(greeting.origin, FEED_ORIGIN_EXEC);
    assert_string_equal(greeting.exe, "/bin/prog");
    assert_true(fcntl(greeting.memfd, F_GETFD) & FD_CLOEXEC);
    close(greeting.memfd);
}

static void a_hello_says_which_events_come_along(void **state)
{
    static const struct {
        uint32_t events;
        bool clock, faults;
    } cases[] = {
        { 0, false, false },
        { FEED_HELLO_CLOCK, true, false },
        { FEED_HELLO_FAULTS, false, true },
        { FEED_HELLO_CLOCK | FEED_HELLO_FAULTS, true, true },
    };
    const struct pair *pair = *state;
    struct feed_hello hello = good_hello();
    struct feed_greeting greeting;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hello.events = cases[i].events;
        send_with(pair->program, &hello, sizeof(hello), 1 + cases[i].clock + cases[i].faults);
        assert_int_equal(feed_receive(&greeting, pair->service, geteuid()), FEED_RECEIVED_HELLO);
        assert_int_equal(greeting.clock >= 0, cases[i].clock);
        assert_int_equal(greeting.faults >= 0, cases[i].faults);
        close(greeting.memfd);
        if (cases[i].clock)
            close(greeting.clock);
        if (cases[i].faults)
            close(greeting.faults);
    }
}

static void the_kernels_pid_counts_not_the_programs(void **state)
{
    const struct pair *pair = *state;
    struct feed_hello hello = good_hello();
    struct feed_greeting greeting;

    hello.pid = 1;
    hello.ppid = 77;
    send_with(pair->program, &hello, sizeof(hello), 1);
    assert_int_equal(feed_receive(&greeting, pair->service, geteuid()), FEED_RECEIVED_HELLO);
    assert_int_equal(greeting.pid, getpid());
    assert_int_equal(greeting.ppid, 0);
    close(greeting.memfd);
}

/* Of a pair of sockets the kernel notes who has made it. Returns what a service hears that belongs
 * to owner; this process is nobody's, or already another user's than root. */
static enum feed_received heard_by(uid_t owner)
{
    const struct feed_hello hello = good_hello();
    struct feed_greeting greeting;
    int ends[2];

    if ((geteuid() == 0 && setresuid(65534, 65534, 65534) < 0) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0)
        return FEED_RECEIVED_NOTHING;
    send_with(ends[0], &hello, sizeof(hello), 1);
    return feed_receive(&greeting, ends[1], owner ? owner : geteuid());
}

static int heard_in_a_child(uid_t owner)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit((int)heard_by(owner));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

static void another_users_process_is_refused(void **state)
{
    (void)state;
    assert_int_equal(heard_in_a_child(0), FEED_RECEIVED_HELLO);
    assert_int_equal(heard_in_a_child(12345), FEED_RECEIVED_NONSENSE);
}

static void another_magic_version_or_type_is_nonsense(void **state)
{
    struct feed_hello hello = good_hello();

    hello.head.magic++;
    assert_nonsense(*state, &hello, sizeof(hello), 1);
    hello = good_hello();
    hello.head.version++;
    assert_nonsense(*state, &hello, sizeof(hello), 1);
    hello = good_hello();
    hello.head.type = FEED_MESSAGE_HELLO + 1;
    assert_nonsense(*state, &hello, sizeof(hello), 1);
}

static void a_hello_of_another_size_is_nonsense(void **state)
{
    struct {
        struct feed_hello hello;
        char more[4096];
    } longer = { .hello = good_hello() };

    assert_nonsense(*state, &longer, 1, 1);
    assert_nonsense(*state, &longer, sizeof(longer.hello) - 1, 1);
    assert_nonsense(*state, &longer, sizeof(longer.hello) + 1, 1);
    assert_nonsense(*state, &longer, sizeof(longer), 1);
}

static void a_hello_has_as_many_descriptors_as_it_says(void **state)
{
    struct feed_hello hello = good_hello();

    for (int descriptors = 0; descriptors < 4; descriptors++)
        if (descriptors != 1)
            assert_nonsense(*state, &hello, sizeof(hello), descriptors);
    hello.events = FEED_HELLO_FAULTS;
    assert_nonsense(*state, &hello, sizeof(hello), 1);
    hello.events = 4;
    assert_nonsense(*state, &hello, sizeof(hello), 2);
    assert_nonsense(*state, &hello, sizeof(hello), 8);
}

static void an_exe_without_end_is_ended(void **state)
{
    const struct pair *pair = *state;
    struct feed_hello hello = good_hello();
    struct feed_greeting greeting;

    memset(hello.exe, 'x', sizeof(hello.exe));
    send_with(pair->program, &hello, sizeof(hello), 1);
    assert_int_equal(feed_receive(&greeting, pair->service, geteuid()), FEED_RECEIVED_HELLO);
    assert_int_equal(strlen(greeting.exe), FEED_EXE_BYTES - 1);
    close(greeting.memfd);
}

static void nothing_yet_and_the_end_are_told_apart(void **state)
{
    struct pair *pair = *state;
    struct feed_greeting greeting;

    assert_int_equal(feed_receive(&greeting, pair->service, geteuid()), FEED_RECEIVED_NOTHING);
    close(pair->program);
    pair->program = -1;
    assert_int_equal(feed_receive(&greeting, pair->service, geteuid()), FEED_RECEIVED_END);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_pair, close_pair)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_good_hello_brings_its_memory),
        TEST(a_hello_says_which_events_come_along),
        TEST(the_kernels_pid_counts_not_the_programs),
        cmocka_unit_test(another_users_process_is_refused),
        TEST(another_magic_version_or_type_is_nonsense),
        TEST(a_hello_of_another_size_is_nonsense),
        TEST(a_hello_has_as_many_descriptors_as_it_says),
        TEST(an_exe_without_end_is_ended),
        TEST(nothing_yet_and_the_end_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
