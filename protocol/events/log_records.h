/*
 * log_records.h - what the service has to say, as Logging events: DevTools shows them in its log.
 *
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_LOG_RECORDS_H
#define ISOSCOPE_LOG_RECORDS_H

struct isolate;
struct service;

/* As Dart's package:logging numbers them; DevTools shows the second in red. */
enum log_level { LEVEL_WARNING = 900, LEVEL_SEVERE = 1000 };

struct log_words {
    enum log_level level;
    const char *logger; /* behind "isoscope.", "stall"; NULL: isoscope itself */
    const char *message;
    const char *error; /* NULL: none */
};

/* Of the isolate. service->log_records counts them. */
void log_record(struct service *service, const struct isolate *isolate,
                const struct log_words *words);

#endif
