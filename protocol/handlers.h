/*
 * handlers.h - who answers which method (methods.c). One handlers_*.c per subject.
 */
#ifndef ISOSCOPE_HANDLERS_H
#define ISOSCOPE_HANDLERS_H

#include "methods.h"

/* handlers_vm.c */
method_handler handle_get_version, handle_get_supported_protocols, handle_get_vm;
method_handler handle_get_vm_timeline_micros, handle_get_flag_list, handle_set_flag;

/* handlers_isolate.c */
method_handler handle_get_isolate, handle_get_isolate_group, handle_get_isolate_pause_event;

/* handlers_objects.c */
method_handler handle_get_scripts, handle_get_object;
method_handler handle_lookup_package_uris, handle_lookup_resolved_package_uris;

/* handlers_samples.c */
method_handler handle_get_cpu_samples, handle_article_samples, handle_clear_cpu_samples;
method_handler handle_enable_profiler;

/* handlers_stream.c */
method_handler handle_stream_listen, handle_stream_cancel;

/* Gives result as the answer; NULL means that building it ran out of memory. */
int answer(struct client *client, struct reply *reply, json_t *result);
int answer_success(struct client *client, struct reply *reply);

#endif
