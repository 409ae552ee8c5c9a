#include "cpython_tasks.h"

#include "cpython_code.h"
#include "cpython_thread.h"

#include "../../../feed/feed_writer.h"

#include <string.h>

/* "Handle._run", and where names of codes are short "_run". */
#define RUN_LONG    "Handle._run"
#define RUN_FILE    "asyncio/events.py"
#define TASK_TYPE   "_asyncio.Task"
#define TASK_NAME   "Task-"
#define STRING_TYPE "str"
#define NUMBER_TYPE "int"

#define TAGS UINT64_C(7) /* 3.14: of a reference in a frame */

enum {
    TEXT_BYTES = 64,
    RUN_SHORT_AT = sizeof "Handle." - 1,
    HANDLE_CALLBACK = 24, /* the second of its slots, which stand in alphabetical order */
    TYPE_NAME = 24,
    /* What a callback's object has of its task: a step's, or a built-in method. */
    STEP_TASK = 16,
    METHOD_SELF = 24,
    /* A number: its size, and one digit of it. */
    NUMBER_SIZE = 16,
    NUMBER_DIGIT = 24,
    NUMBER_DIGITS_MAX = 10,
};

/* Its last bytes; false: it is no text that is stored as bytes. */
static SIGNAL_SAFE bool ends_with(struct runtime_scan *scan, const uint64_t *words, uint64_t string,
                                  const char *end, uint64_t bytes)
{
    uint64_t length;
    char text[TEXT_BYTES];

    return cpython_field(scan, string, words[CPYTHON_STRING_LENGTH], &length) && length >= bytes &&
           guarded_read(&scan->memory, text, string + words[CPYTHON_STRING_ASCII] + length - bytes,
                        bytes) &&
           !memcmp(text, end, bytes);
}

static SIGNAL_SAFE bool is_handle_run(struct runtime_scan *scan, const uint64_t *words,
                                      uint64_t code)
{
    uint64_t name, file, length;

    if (!cpython_field(scan, code, words[CPYTHON_CODE_NAME], &name) ||
        !cpython_field(scan, name, words[CPYTHON_STRING_LENGTH], &length))
        return false;
    if (length == sizeof RUN_LONG - 1 ? !ends_with(scan, words, name, RUN_LONG, sizeof RUN_LONG - 1)
                                      : length != sizeof RUN_LONG - 1 - RUN_SHORT_AT ||
                                            !ends_with(scan, words, name, &RUN_LONG[RUN_SHORT_AT],
                                                       sizeof RUN_LONG - 1 - RUN_SHORT_AT))
        return false;
    return cpython_field(scan, code, words[CPYTHON_CODE_FILE], &file) &&
           ends_with(scan, words, file, RUN_FILE, sizeof RUN_FILE - 1);
}

/* bytes: of the type's name, with its end. */
static SIGNAL_SAFE bool is_a(struct runtime_scan *scan, const uint64_t *words, uint64_t object,
                             const char *type_name, uint64_t bytes)
{
    uint64_t type, name;
    char text[TEXT_BYTES];

    return cpython_field(scan, object, words[CPYTHON_OBJECT_TYPE], &type) &&
           guarded_word(&scan->memory, type + TYPE_NAME, &name) &&
           guarded_read(&scan->memory, text, name, bytes) && !memcmp(text, type_name, bytes);
}

static SIGNAL_SAFE bool is_task(struct runtime_scan *scan, const uint64_t *words, uint64_t object)
{
    return is_a(scan, words, object, TASK_TYPE, sizeof TASK_TYPE);
}

static SIGNAL_SAFE bool task_of(struct runtime_scan *scan, const uint64_t *words, uint64_t callback,
                                uint64_t *out)
{
    return (guarded_word(&scan->memory, callback + STEP_TASK, out) && is_task(scan, words, *out)) ||
           (guarded_word(&scan->memory, callback + METHOD_SELF, out) && is_task(scan, words, *out));
}

/* A task that nobody has asked for its name keeps a number from 3.12 on. */
static SIGNAL_SAFE bool number_name(struct runtime_scan *scan, uint64_t object, char *out)
{
    char digits[NUMBER_DIGITS_MAX];
    uint64_t size;
    uint32_t value, count = 0, at = sizeof TASK_NAME - 1;

    /* From 3.12 on: a sign in the low bits (0: above zero), and how many digits behind them. */
    if (!guarded_word(&scan->memory, object + NUMBER_SIZE, &size) || size != 1 << 3 ||
        !guarded_read(&scan->memory, &value, object + NUMBER_DIGIT, sizeof value))
        return false;
    do
        digits[count++] = (char)('0' + value % 10);
    while ((value /= 10) && count < NUMBER_DIGITS_MAX);
    memcpy(out, TASK_NAME, at);
    while (count)
        out[at++] = digits[--count];
    out[at] = 0;
    return true;
}

void cpython_task(struct runtime_scan *scan, uint32_t entry, uint64_t frame, uint64_t code)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    uint64_t handle, callback, task, name;
    char text[FEED_NAME_MAX + 1];

    if (scan->task || words[CPYTHON_TASK_NAME] == CPYTHON_NO_FIELD ||
        !is_handle_run(scan, words, code) ||
        !cpython_field(scan, frame, words[CPYTHON_FRAME_LOCALS], &handle) ||
        !guarded_word(&scan->memory, (handle & ~TAGS) + HANDLE_CALLBACK, &callback) ||
        !task_of(scan, words, callback, &task) ||
        !cpython_field(scan, task, words[CPYTHON_TASK_NAME], &name))
        return;
    if (is_a(scan, words, name, STRING_TYPE, sizeof STRING_TYPE)
            ? cpython_text(scan, words, name, text, sizeof text)
            : is_a(scan, words, name, NUMBER_TYPE, sizeof NUMBER_TYPE) &&
                  number_name(scan, name, text))
        scan->task = feed_writer_name(scan->writer, text);
}
