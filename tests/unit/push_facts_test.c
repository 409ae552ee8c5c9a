/* What /proc tells of a process' container and build. */
#include "server/push/push_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static void a_containers_number_stands_in_its_groups(void **state)
{
    static const char *const groups[] = {
        "0::/system.slice/docker-" ID ".scope\n",
        "12:pids:/docker/" ID "\n11:cpu:/docker/" ID "\n",
        "0::/kubepods.slice/kubepods-pod1f.slice/cri-containerd-" ID ".scope\n",
        "0::/machine.slice/libpod-" ID ".scope/container",
        "0::/kubepods/besteffort/pod/" OTHER "/" ID,
    };
    char id[PUSH_ID_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
        push_container_in(groups[i], id);
        assert_string_equal(id, ID);
    }
}

static void what_is_no_such_number_is_none(void **state)
{
    static const char *const groups[] = {
        "",
        "0::/\n",
        "0::/user.slice/user-1000.slice\n",
        "0::/a" ID "\n",
        "0::/" ID "0\n",
        "0::/docker/0123456789abcdef\n",
    };
    char id[PUSH_ID_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
        push_container_in(groups[i], id);
        assert_string_equal(id, "");
    }
}

static void in_a_tree_of_its_own_its_mounts_tell(void **state)
{
    char id[PUSH_ID_BYTES];

    (void)state;
    push_container_in_mounts("1 2 0:1 / / rw - overlay overlay lowerdir=/x/" OTHER "\n"
                             "3 2 8:1 /var/lib/docker/containers/" ID "/hostname /etc/hostname rw\n"
                             "4 2 8:1 /var/lib/" OTHER "/hosts /etc/hosts rw\n",
                             id);
    assert_string_equal(id, ID);
    push_container_in_mounts("1 2 0:1 / / rw - ext4 /dev/sda1 rw\n", id);
    assert_string_equal(id, "");
}

static void a_process_that_is_gone_has_neither(void **state)
{
    char id[PUSH_ID_BYTES];

    (void)state;
    push_container_of(0x7fffffff, id);
    assert_string_equal(id, "");
    push_build_of(0x7fffffff, id);
    assert_string_equal(id, "");
}

static void ours_has_a_build(void **state)
{
    char id[PUSH_ID_BYTES];

    (void)state;
    push_build_of(getpid(), id);
    assert_int_equal(strlen(id), 40); /* as ld makes them: SHA-1 */
    assert_int_equal(strspn(id, "0123456789abcdef"), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_containers_number_stands_in_its_groups),
        cmocka_unit_test(what_is_no_such_number_is_none),
        cmocka_unit_test(in_a_tree_of_its_own_its_mounts_tell),
        cmocka_unit_test(a_process_that_is_gone_has_neither),
        cmocka_unit_test(ours_has_a_build),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
