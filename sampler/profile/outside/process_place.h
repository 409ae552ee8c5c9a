/*
 * process_place.h - where on its machine a program lives: its container and pod, or its systemd unit.
 *
 *   /proc/PID/cgroup, /proc/PID/mountinfo -> process_place -> the wire, sessions, labels of what is pushed
 *
 * Known are the names that Docker, containerd and CRI-O under Kubernetes, Podman, LXC and systemd give to control groups.
 *
 * Threads    Any.
 * Errors     None: what cannot be read, or is not so, is "".
 */
#ifndef ISOSCOPE_PROCESS_PLACE_H
#define ISOSCOPE_PROCESS_PLACE_H

#include <stdint.h>

enum {
    PLACE_ENGINE_BYTES = 24,
    PLACE_CONTAINER_BYTES = 64 + 1,
    PLACE_POD_BYTES = 36 + 1,
    PLACE_UNIT_BYTES = 128,
    PLACE_LABEL_BYTES = 160,
};

struct process_place {
    char engine
        [PLACE_ENGINE_BYTES]; /* "docker", "containerd", "cri-o", "podman", "lxc"; "": not told */
    char container[PLACE_CONTAINER_BYTES]; /* 64 hexadecimal digits; of LXC: its name */
    char pod[PLACE_POD_BYTES];             /* Kubernetes' uid of it */
    char unit[PLACE_UNIT_BYTES];           /* of what is in no container: "nginx.service" */
};

struct process_place process_place_of(int32_t pid);
/* "docker 3f29c0e1a2b4", "pod 8f3c...-... containerd 3f29c0e1a2b4", "nginx.service"; "": it is in none. */
void process_place_label(const struct process_place *place, char out[PLACE_LABEL_BYTES]);

/* By a text of /proc/PID/cgroup. */
void process_place_in_groups(const char *text, struct process_place *out);
/* By one of /proc/PID/mountinfo: who mounts a container's /etc/hostname keeps it in a folder of its number. A container that has a
 * tree of groups for itself does not see its own name there. */
void process_place_in_mounts(const char *text, struct process_place *out);

#endif
