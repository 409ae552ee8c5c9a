#include "methods.h"

#include "handlers.h"

#include <stddef.h>
#include <string.h>

#define AT(method, field) offsetof(union method_params, method.field)

/* Rows in the VM's order: of several wrong ones the client hears of the first. */
static const struct param no_isolate[] = {
    { "isolateId", PARAM_ABSENT, false, 0, 0 },
};
static const struct param stream[] = {
    { "streamId", PARAM_STRING, true, AT(stream, stream_id), 0 },
};
static const struct param isolate[] = {
    { "isolateId", PARAM_ISOLATE, true, AT(isolate, isolate), 0 },
};
static const struct param isolate_group[] = {
    { "isolateGroupId", PARAM_ISOLATE_GROUP, true, AT(isolate_group, isolate), 0 },
};
static const struct param set_flag[] = {
    { "isolateId", PARAM_ABSENT, false, 0, 0 },
    { "name", PARAM_STRING, true, AT(set_flag, name), 0 },
    { "value", PARAM_STRING, true, AT(set_flag, value), 0 },
};
static const struct param enable_profiler[] = {
    { "isolateId", PARAM_ISOLATE, false, AT(enable_profiler, isolate), 0 },
    { "enable", PARAM_BOOL, false, AT(enable_profiler, enable), true },
};
static const struct param article_samples[] = {
    { "isolateId", PARAM_ISOLATE, false, AT(article_samples, isolate), 0 },
    { "timestamp", PARAM_INT64, false, AT(article_samples, timestamp_us), 0 },
    { "count", PARAM_UNSIGNED, false, AT(article_samples, count), 0 },
    { "symbols", PARAM_SYMBOLS, false, AT(article_samples, available), false },
};
static const struct param cpu_samples[] = {
    { "isolateId", PARAM_ISOLATE, true, AT(cpu_samples, isolate), 0 },
    { "timeOriginMicros", PARAM_INT64, false, AT(cpu_samples, origin_us), -1 },
    { "timeExtentMicros", PARAM_INT64, false, AT(cpu_samples, extent_us), -1 },
    { "symbols", PARAM_SYMBOLS, false, AT(cpu_samples, available), false },
};
static const struct param object[] = {
    { "isolateId", PARAM_ISOLATE, true, AT(object, isolate), 0 },
    { "offset", PARAM_UNSIGNED, false, AT(object, offset), 0 },
    { "count", PARAM_UNSIGNED, false, AT(object, count), 0 },
    { "objectId", PARAM_STRING, true, AT(object, id), 0 },
};
static const struct param uris[] = {
    { "isolateId", PARAM_ISOLATE, true, AT(uris, isolate), 0 },
    { "uris", PARAM_LIST, true, AT(uris, uris), 0 },
};

#define TAKES(params) (params), sizeof(params) / sizeof(*(params))
#define TAKES_NOTHING NULL, 0

static const struct method methods[] = {
    { "_enableProfiler", handle_enable_profiler, TAKES(enable_profiler), 0 },
    { "_getCpuSamples", handle_article_samples, TAKES(article_samples), METHOD_DRAINS },
    { "clearCpuSamples", handle_clear_cpu_samples, TAKES(isolate), METHOD_DRAINS },
    { "getCpuSamples", handle_get_cpu_samples, TAKES(cpu_samples), METHOD_DRAINS },
    { "getFlagList", handle_get_flag_list, TAKES(no_isolate), 0 },
    { "getIsolate", handle_get_isolate, TAKES(isolate), 0 },
    { "getIsolateGroup", handle_get_isolate_group, TAKES(isolate_group), 0 },
    { "getIsolatePauseEvent", handle_get_isolate_pause_event, TAKES(isolate), 0 },
    { "getObject", handle_get_object, TAKES(object), 0 },
    { "getScripts", handle_get_scripts, TAKES(isolate), 0 },
    { "getSupportedProtocols", handle_get_supported_protocols, TAKES_NOTHING, METHOD_ROUTING },
    { "getVM", handle_get_vm, TAKES(no_isolate), 0 },
    { "getVMTimelineMicros", handle_get_vm_timeline_micros, TAKES(no_isolate), 0 },
    { "getVersion", handle_get_version, TAKES(no_isolate), 0 },
    { "lookupPackageUris", handle_lookup_package_uris, TAKES(uris), 0 },
    { "lookupResolvedPackageUris", handle_lookup_resolved_package_uris, TAKES(uris), 0 },
    { "setFlag", handle_set_flag, TAKES(set_flag), 0 },
    { "streamCancel", handle_stream_cancel, TAKES(stream), METHOD_ROUTING },
    { "streamListen", handle_stream_listen, TAKES(stream), METHOD_ROUTING },
};

const struct method *method_find(const char *name)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (!strcmp(methods[i].name, name))
            return &methods[i];
    return NULL;
}
