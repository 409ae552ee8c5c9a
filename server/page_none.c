#include "page.h"

/* Built with -DISOSCOPE_WEB=OFF. */
const struct page_file page_files[] = { { NULL, NULL, NULL, NULL, 0 } };
