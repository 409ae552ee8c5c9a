#include "jit_areas.h"

#include "../../feed/sys.h"
#include "../system/clock.h"
#include "../system/number.h"
#include "../system/pages.h"
#include "../system/proc_path.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    AREAS_BYTES = JIT_AREAS_MAX * sizeof(struct jit_area),
    SLACK_S = 1
}; /* files have the time of the kernel's last tick */

/* Pids come again, and nobody removes perf maps: one last written before us is another program's.
 */
static SIGNAL_SAFE bool perf_map_exists(const struct jit_process *process)
{
    char path[PROC_PATH_BYTES + 32] = "/tmp/perf-";
    struct timespec now;
    struct stat file;

    if (process->other)
        proc_path(path, process->other, "/root/tmp/perf-");
    strcpy(number_put(path + strlen(path), process->pid), ".map");
    if (sys_call4(SYS_newfstatat, AT_FDCWD, path, &file, 0) < 0 ||
        sys_call2(SYS_clock_gettime, CLOCK_REALTIME, &now) < 0)
        return false;
    return file.st_mtim.tv_sec >=
           now.tv_sec - (clock_now_us() - process->start_us) / 1000000 - SLACK_S;
}

void jit_areas_begin(struct jit_areas *areas, const struct jit_process *process)
{
    areas->wanted = perf_map_exists(process);
    areas->count = 0;
}

void jit_areas_free(struct jit_areas *areas)
{
    pages_free(areas->areas, AREAS_BYTES);
    areas->areas = NULL;
}

/* Memory set aside right behind code: the compiler makes it executable as it goes on, and it would
 * be unknown until the next look. */
static SIGNAL_SAFE bool set_aside(const struct maps_line *line)
{
    return !line->inode && !line->readable && !line->writable && !line->executable;
}

static SIGNAL_SAFE bool has_memory(struct jit_areas *areas)
{
    if (!areas->areas)
        areas->areas = pages_new(AREAS_BYTES);
    return areas->areas != NULL;
}

void jit_areas_take(struct jit_areas *areas, const struct maps_line *line)
{
    struct jit_area *last = areas->count ? &areas->areas[areas->count - 1] : NULL;

    if (!strcmp(line->path, "[vsyscall]") || (!line->executable && !set_aside(line)))
        return;
    if (last && last->end == line->start && !last->inode && !line->inode)
        last->end = line->end;
    else if ((line->executable || (last && last->end == line->start)) &&
             areas->count < JIT_AREAS_MAX && has_memory(areas))
        areas->areas[areas->count++] =
            (struct jit_area){ line->start,  line->end,       line->inode,
                               line->offset, line->dev_major, line->dev_minor };
}

bool jit_areas_equal(const struct jit_areas *left, const struct jit_areas *right)
{
    if (left->wanted != right->wanted)
        return false;
    return !left->wanted || (left->count == right->count &&
                             (!left->count || !memcmp(left->areas, right->areas,
                                                      left->count * sizeof left->areas[0])));
}
