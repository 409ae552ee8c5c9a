#include "serve_command.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../service/push_files.h"
#include "../service/serve_files.h"
#include "host.h"
#include "host_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_BYTES = 512 };

int serve_command(int argc, char **argv, const struct inherited *inherited)
{
    static struct host_options options;                      /* texts of its are pointed to */
    char **words = calloc((size_t)argc + 1, sizeof(char *)); /* parsing moves them */
    char error[ERROR_BYTES];

    (void)inherited;
    if (!words)
        return STATUS_FAILED;
    memcpy(words, argv + 1, ((size_t)argc - 1) * sizeof(char *));
    if (host_options_parse(&options, argc, argv, error, sizeof(error)) < 0 ||
        (!options.help && host_options_agree(&options, error, sizeof(error)) < 0)) {
        log_line("%s", error);
        log_line_plain("Try `isoscope serve --help`.");
        free(words);
        return STATUS_USAGE;
    }
    if (options.help)
        host_options_help(stdout);

    int status = options.help                     ? STATUS_OK
                 : !options.serve.host.file_count ? host_serve(&options, words)
                 : options.serve.push.wanted      ? push_files(&options.serve)
                                                  : serve_files(&options.serve);
    free(words);
    return status;
}
