/*
 * refused.c - what a native program that is only looked at cannot give.
 *
 * Each has the error that clients know for it; an isolate that is gone was answered before.
 */
#include "handlers.h"
#include "../client/client.h"

#define REFUSE(method, error, why)                                                                 \
    int handle_##method(struct client *client, const struct method##_params *params,               \
                        struct reply *reply)                                                       \
    {                                                                                              \
        (void)params;                                                                              \
        (void)reply;                                                                               \
        return fail(client, error, why);                                                           \
    }

#define NO_OBJECTS  "A native program has no Dart objects."
#define NO_STOP     "isoscope never stops a program."
#define NO_COMPILER "A native program has no compiler for expressions."

REFUSE(set_trace_class_allocation, RPC_FEATURE_DISABLED,
       "A native program has no classes: all its allocations are sampled, or none.")
REFUSE(request_heap_snapshot, RPC_FEATURE_DISABLED, NO_OBJECTS)
REFUSE(get_instances, RPC_FEATURE_DISABLED, NO_OBJECTS)
REFUSE(get_instances_as_list, RPC_FEATURE_DISABLED, NO_OBJECTS)
REFUSE(get_inbound_references, RPC_FEATURE_DISABLED, NO_OBJECTS)
REFUSE(get_retaining_path, RPC_FEATURE_DISABLED, NO_OBJECTS)
REFUSE(private_get_heap_map, RPC_FEATURE_DISABLED, NO_OBJECTS)
REFUSE(private_get_object_store, RPC_FEATURE_DISABLED, NO_OBJECTS)
REFUSE(private_get_reachable_size, RPC_FEATURE_DISABLED, NO_OBJECTS)
REFUSE(private_get_retained_size, RPC_FEATURE_DISABLED, NO_OBJECTS)
REFUSE(send_dap_request, RPC_FEATURE_DISABLED, "There is no debugger: " NO_STOP)
REFUSE(private_get_persistent_handles, RPC_FEATURE_DISABLED, NO_OBJECTS)
REFUSE(private_collect_all_garbage, RPC_FEATURE_DISABLED, "A native program has no garbage.")
REFUSE(get_queued_microtasks, RPC_FEATURE_DISABLED, "A native program has no microtasks.")
REFUSE(invoke, RPC_FEATURE_DISABLED, "isoscope calls nothing in a program.")
REFUSE(evaluate, RPC_EXPRESSION_COMPILATION_ERROR, NO_COMPILER)
REFUSE(evaluate_in_frame, RPC_EXPRESSION_COMPILATION_ERROR, NO_COMPILER)
REFUSE(add_breakpoint, RPC_CANNOT_ADD_BREAKPOINT, NO_STOP)
REFUSE(add_breakpoint_with_script_uri, RPC_CANNOT_ADD_BREAKPOINT, NO_STOP)
REFUSE(add_breakpoint_at_entry, RPC_CANNOT_ADD_BREAKPOINT, NO_STOP)
REFUSE(pause, RPC_FEATURE_DISABLED, NO_STOP)
REFUSE(kill, RPC_FEATURE_DISABLED, "isoscope never ends a program.")
REFUSE(reload_sources, RPC_FEATURE_DISABLED, "A native program has no source to reload.")
