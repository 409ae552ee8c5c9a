/*
 * debugger.c - what debuggers ask for and has an answer although nothing is ever stopped:
 * what asks for the state that is there anyway succeeds.
 */
#include "handlers.h"
#include "../client/client.h"

int handle_resume(struct client *client, const struct resume_params *params, struct reply *reply)
{
    (void)params;
    return answer_success(client, reply);
}

/* Debuggers ask for a mode as they attach, and do not cope with an error. Any will do: no Dart
 * exception is ever thrown. */
int handle_set_exception_pause_mode(struct client *client,
                                    const struct set_exception_pause_mode_params *params,
                                    struct reply *reply)
{
    (void)params;
    return answer_success(client, reply);
}

int handle_set_isolate_pause_mode(struct client *client,
                                  const struct set_isolate_pause_mode_params *params,
                                  struct reply *reply)
{
    if (params->should_pause_on_exit)
        return fail(client, RPC_FEATURE_DISABLED, "isoscope never stops a program.");
    return answer_success(client, reply);
}

int handle_set_library_debuggable(struct client *client,
                                  const struct set_library_debuggable_params *params,
                                  struct reply *reply)
{
    (void)params;
    return answer_success(client, reply);
}

/* No breakpoint was ever made, so none has the id. */
static int no_such_breakpoint(struct client *client, const char *method, const char *id)
{
    return fail(client, RPC_INVALID_PARAMS, "%s: invalid 'breakpointId' parameter: %s", method, id);
}

int handle_remove_breakpoint(struct client *client, const struct remove_breakpoint_params *params,
                             struct reply *reply)
{
    (void)reply;
    return no_such_breakpoint(client, "removeBreakpoint", params->breakpoint_id);
}

int handle_set_breakpoint_state(struct client *client,
                                const struct set_breakpoint_state_params *params,
                                struct reply *reply)
{
    (void)reply;
    return no_such_breakpoint(client, "setBreakpointState", params->breakpoint_id);
}
