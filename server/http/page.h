/*
 * page.h - the browser page that is built into the service (clients/web), and the documentation (docs/site).
 *
 * Its files are kept as gzip and sent so; a client that does not take gzip is told. Browsers ask
 * each time whether theirs is still good (ETag): the page is as new as the service.
 *
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_PAGE_H
#define ISOSCOPE_PAGE_H

#include <stddef.h>

struct http_answer;
struct http_request;

struct page_file {
    const char *name; /* below the token: "index.html" */
    const char *type;
    const char *etag; /* with its quotes */
    const unsigned char *gzip;
    size_t size;
};

/* Made by cmake/page_files.cmake. The last one has no name. */
extern const struct page_file page_files[];

/* Made by docs/site/build.py, of the same form: below "docs/". Empty where the build had no python3-markdown-it. */
extern const struct page_file docs_files[];

/* "app.js", or "docs/stalls.html" ("docs/": the first of them). NULL: there is no such file. */
const struct page_file *page_find(const char *name);

/* The page itself when this request is a browser's, which asks for text/html; else NULL. */
const struct page_file *page_for_browser(const struct http_request *request);

void page_answer(struct http_answer *out, const struct page_file *file,
                 const struct http_request *request);

#endif
