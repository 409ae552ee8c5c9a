#include "page_file.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../http/page.h"

#include <stdio.h>

int page_file_command(int argc, char **argv, const struct inherited *inherited)
{
    const struct page_file *file = argc == 2 ? page_find(argv[1]) : NULL;

    (void)inherited;
    if (!file) {
        log_line(
            "page-file: expected one of the page's files: index.html, app.css, app.js, "
            "chunk.js, later.js, one_page.html; or of the documentation's (docs/files.txt lists "
            "them), which a build without python3-markdown-it has not");
        return STATUS_USAGE;
    }
    if (fwrite(file->gzip, 1, file->size, stdout) != file->size || fflush(stdout) != 0) {
        log_line("page-file: cannot write to standard output");
        return STATUS_FAILED;
    }
    return STATUS_OK;
}
