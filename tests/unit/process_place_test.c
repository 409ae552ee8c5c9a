/* What control groups tell of where a program lives: lines as engines and systemd write them. */
#include "sampler/profile/outside/process_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define POD   "8f3c1d2e-1a2b-4c3d-9e8f-0a1b2c3d4e5f"
#define POD_  "8f3c1d2e_1a2b_4c3d_9e8f_0a1b2c3d4e5f"

static void groups_tell_container_pod_and_unit(void **state)
{
    static const struct {
        const char *groups, *engine, *container, *pod, *unit, *label;
    } rows[] = {
        { "0::/system.slice/docker-" ID ".scope\n", "docker", ID, "", "", "docker 0123456789ab" },
        { "12:pids:/docker/" ID "\n11:cpu,cpuacct:/docker/" ID "\n1:name=systemd:/docker/" ID
          "\n0::/\n",
          "docker", ID, "", "", "docker 0123456789ab" },
        { "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_
          ".slice/cri-containerd-" ID ".scope\n",
          "containerd", ID, POD, "", "pod " POD " containerd 0123456789ab" },
        { "0::/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" ID ".scope/container\n", "cri-o",
          ID, POD, "", "pod " POD " cri-o 0123456789ab" },
        { "11:memory:/kubepods/besteffort/pod" POD "/" ID "\n", "", ID, POD, "",
          "pod " POD " container 0123456789ab" },
        { "0::/../../kubepods/pod" POD "/" ID "\n", "", ID, POD, "",
          "pod " POD " container 0123456789ab" },
        { "0::/machine.slice/libpod-" ID ".scope/container", "podman", ID, "", "",
          "podman 0123456789ab" },
        { "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
          ".scope/container\n",
          "podman", ID, "", "", "podman 0123456789ab" },
        { "0::/default/nerdctl-" ID "\n", "containerd", ID, "", "", "containerd 0123456789ab" },
        { "0::/docker/" OTHER "/docker/" ID "\n", "docker", ID, "", "", "docker 0123456789ab" },
        { "0::/lxc.payload.web1/system.slice/nginx.service\n", "lxc", "web1", "", "", "lxc web1" },
        { "4:cpu:/lxc/web1\n", "lxc", "web1", "", "", "lxc web1" },
        { "0::/system.slice/nginx.service\n", "", "", "", "nginx.service", "nginx.service" },
        { "0::/system.slice/system-getty.slice/getty@tty1.service\n", "", "", "",
          "getty@tty1.service", "getty@tty1.service" },
        { "0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
          "app-org.gnome.Maps\\x2d42.scope\n",
          "", "", "", "app-org.gnome.Maps-42.scope", "app-org.gnome.Maps-42.scope" },
        { "0::/user.slice/user-1000.slice/session-3.scope\n", "", "", "", "session-3.scope",
          "session-3.scope" },
        { "12:pids:/\n1:name=systemd:/system.slice/cron.service\n0::/system.slice/cron.service\n",
          "", "", "", "cron.service", "cron.service" },
        { "0::/\n", "", "", "", "", "" },
        { "0::/user.slice/user-1000.slice\n", "", "", "", "", "" },
        { "", "", "", "", "", "" },
        { "nonsense\n:\n::\n", "", "", "", "", "" },
        { "0::/a" ID "\n0::/" ID "0\n0::/docker/0123456789abcdef\n", "", "", "", "", "" },
        { "0::/kubepods/pod" POD "0\n0::/kubepods/podx\n", "", "", "", "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct process_place place;
        char label[PLACE_LABEL_BYTES];

        process_place_in_groups(rows[i].groups, &place);
        process_place_label(&place, label);
        assert_string_equal(place.engine, rows[i].engine);
        assert_string_equal(place.container, rows[i].container);
        assert_string_equal(place.pod, rows[i].container[0] ? rows[i].pod : "");
        assert_string_equal(place.unit, rows[i].unit);
        assert_string_equal(label, rows[i].label);
    }
}

/* A name may be as long as a file system has them. */
static void long_names_are_cut_and_nothing_is_written_beyond(void **state)
{
    struct process_place place;
    char groups[1024], label[PLACE_LABEL_BYTES];

    (void)state;
    snprintf(groups, sizeof(groups), "0::/lxc/%0255d\n", 1);
    process_place_in_groups(groups, &place);
    assert_int_equal(strlen(place.container), PLACE_CONTAINER_BYTES - 1);
    snprintf(groups, sizeof(groups), "0::/%0240d.service\n", 1);
    process_place_in_groups(groups, &place);
    assert_int_equal(strlen(place.unit), PLACE_UNIT_BYTES - 1);
    process_place_label(&place, label);
    assert_string_equal(label, place.unit);
}

static void in_a_tree_of_its_own_its_mounts_tell(void **state)
{
    struct process_place place;

    (void)state;
    process_place_in_mounts("1 2 0:1 / / rw - overlay overlay lowerdir=/x/" OTHER "\n"
                            "3 2 8:1 /var/lib/docker/containers/" ID "/hostname /etc/hostname rw\n"
                            "4 2 8:1 /var/lib/" OTHER "/hosts /etc/hosts rw\n",
                            &place);
    assert_string_equal(place.container, ID);
    process_place_in_mounts("1 2 0:1 / / rw - ext4 /dev/sda1 rw\n", &place);
    assert_string_equal(place.container, "");
}

static void a_process_that_is_gone_is_nowhere(void **state)
{
    struct process_place place = process_place_of(0x7fffffff);
    char label[PLACE_LABEL_BYTES];

    (void)state;
    process_place_label(&place, label);
    assert_string_equal(label, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_tell_container_pod_and_unit),
        cmocka_unit_test(long_names_are_cut_and_nothing_is_written_beyond),
        cmocka_unit_test(in_a_tree_of_its_own_its_mounts_tell),
        cmocka_unit_test(a_process_that_is_gone_is_nowhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
