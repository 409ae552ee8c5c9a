#include "isolate_labels.h"

#include "isolates.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct isolate_label {
    struct isolate_label *next;
    uint64_t number;
    char name[ISOLATE_NAME_MAX + 1];
};

static struct isolate_label *find_label(struct isolate_label **labels, uint64_t number)
{
    struct isolate_label *label;

    for (label = *labels; label; label = label->next)
        if (label->number == number)
            return label;
    label = calloc(1, sizeof(*label));
    if (!label)
        return NULL;
    label->number = number;
    label->next = *labels;
    *labels = label;
    return label;
}

int isolate_labels_put(struct isolate_label **labels, uint64_t number, const char *name)
{
    struct isolate_label *label = find_label(labels, number);

    if (!label)
        return -ISOSCOPE_NO_MEMORY;
    snprintf(label->name, sizeof(label->name), "%s", name);
    return 0;
}

void isolate_labels_apply(const struct isolate_label *labels, struct isolate *isolate)
{
    for (; labels; labels = labels->next)
        if (labels->number == isolate->number)
            memcpy(isolate->name, labels->name, sizeof(labels->name));
}

void isolate_labels_free(struct isolate_label *labels)
{
    while (labels) {
        struct isolate_label *next = labels->next;

        free(labels);
        labels = next;
    }
}
