/*
 * tag_counters.h - an isolate's samples by VM tag, that is by what their thread was doing.
 */
#ifndef ISOSCOPE_TAG_COUNTERS_H
#define ISOSCOPE_TAG_COUNTERS_H

#include "../isolates/isolates.h"

/* {names, counters}: of all that is in the store now; NULL when out of memory. */
json_t *tag_counters_json(struct profile *profile, const struct isolate *isolate);

#endif
