#include "reader_permit.h"

#include "../feed/sys.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>

static _Atomic int32_t left_to; /* the process whose program chooses; a forked child has its own */

void reader_permit_leave(void)
{
    atomic_store(&left_to, (int32_t)sys_call0(SYS_getpid));
}

void reader_permit(int uplink)
{
    struct ucred peer = { 0 };
    uint32_t bytes = sizeof peer;

    if (atomic_load(&left_to) == (int32_t)sys_call0(SYS_getpid))
        return;
    /* A service that cannot be seen from this pid namespace is 0. */
    if (sys_call5(SYS_getsockopt, uplink, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
        peer.pid > 0 && peer.pid != (int32_t)sys_call0(SYS_getppid))
        sys_call5(SYS_prctl, PR_SET_PTRACER, peer.pid, 0, 0, 0);
}
