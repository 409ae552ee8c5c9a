/*
 * slow_files MOUNT MS - a file system in which every name is a file of one page, and reading it takes MS
 * milliseconds. In the foreground, until it is unmounted.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long read_ms;

static int get_attributes(const char *path, struct stat *out, struct fuse_file_info *info)
{
    (void)info;
    memset(out, 0, sizeof(*out));
    out->st_nlink = 1;
    if (strcmp(path, "/") == 0) {
        out->st_mode = S_IFDIR | 0755;
    } else {
        out->st_mode = S_IFREG | 0444;
        out->st_size = 4096;
    }
    return 0;
}

static int open_file(const char *path, struct fuse_file_info *info)
{
    (void)path;
    return (info->flags & O_ACCMODE) == O_RDONLY ? 0 : -EACCES;
}

static int read_file(const char *path, char *out, size_t size, off_t offset,
                     struct fuse_file_info *info)
{
    struct timespec left = { read_ms / 1000, read_ms % 1000 * 1000000 };

    (void)path;
    (void)info;
    while (nanosleep(&left, &left) < 0)
        ;
    if (offset >= 4096)
        return 0;
    size = size < (size_t)(4096 - offset) ? size : (size_t)(4096 - offset);
    memset(out, 'x', size);
    return (int)size;
}

int main(int argc, char **argv)
{
    static const struct fuse_operations operations = { .getattr = get_attributes,
                                                       .open = open_file,
                                                       .read = read_file };
    char *words[] = { argv[0], argc > 1 ? argv[1] : "", "-f", NULL };

    if (argc != 3)
        return 2;
    read_ms = atol(argv[2]);
    return fuse_main(3, words, &operations, NULL);
}
