#include "admins.h"

#include <grp.h>
#include <pwd.h>
#include <stddef.h>

enum { GROUPS_MAX = 1024 };

bool admins_known(const char *group)
{
    return getgrnam(group) != NULL;
}

/* By what the database says now, not by what the caller's session got when it began. */
bool admins_has(const char *group, uid_t uid, gid_t gid)
{
    gid_t list[GROUPS_MAX], wanted;
    int count = GROUPS_MAX;
    const struct group *admins;
    const struct passwd *user;

    if (uid == 0)
        return true;
    admins = group ? getgrnam(group) : NULL;
    if (!admins)
        return false;
    wanted = admins->gr_gid;
    if (gid == wanted)
        return true;
    user = getpwuid(uid);
    if (!user || getgrouplist(user->pw_name, user->pw_gid, list, &count) < 0)
        return false;
    for (int i = 0; i < count; i++)
        if (list[i] == wanted)
            return true;
    return false;
}
