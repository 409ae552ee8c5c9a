#include "rpc.h"

#include "json_read.h"
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int code;
    const char *message;
} errors[] = {
#define RPC_ERROR_ROW(name, code, message) [RPC_##name] = { code, message },
    RPC_ERRORS(RPC_ERROR_ROW)
#undef RPC_ERROR_ROW
};

static enum rpc_parsed broken(struct rpc_failure *failure, enum rpc_error error,
                              const char *details)
{
    *failure = (struct rpc_failure){ .error = error, .details = strdup(details), .routing = true };
    return RPC_PARSED_BROKEN;
}

/* No method: a reply, perhaps to what nobody asked, or nonsense. */
static enum rpc_parsed parse_reply(const struct request *request, struct rpc_failure *failure)
{
    if (json_is_object(json_object_get(request->message, "result")) ||
        json_is_object(json_object_get(request->message, "error")))
        return RPC_PARSED_REPLY;
    return broken(failure, RPC_INVALID_REQUEST, "a message needs a method");
}

static enum rpc_parsed parse_members(struct request *request, struct rpc_failure *failure)
{
    json_t *id = json_object_get(request->message, "id");
    json_t *method = json_object_get(request->message, "method");
    json_t *params = json_object_get(request->message, "params");

    if (id && !json_is_string(id) && !json_is_number(id) && !json_is_null(id))
        return broken(failure, RPC_INVALID_REQUEST, "id must be a string or a number");
    request->id = id;
    if (!method)
        return parse_reply(request, failure);
    request->method = json_string_value(method);
    if (!request->method || strlen(request->method) != json_string_length(method))
        return broken(failure, RPC_INVALID_REQUEST, "method must be a plain string");
    if (params && !json_is_object(params) && !json_is_null(params))
        return broken(failure, RPC_INVALID_PARAMS, "params must be an object");
    request->params = json_is_object(params) ? params : NULL;
    return RPC_PARSED_REQUEST;
}

#define UNREADABLE "a number that is too large, or half a surrogate pair"

/* What could not be read makes wrong what it stands in; where nobody looks, nothing. */
static enum rpc_parsed parse_damaged(struct request *request, struct rpc_failure *failure)
{
    if (json_is_damaged(json_object_get(request->message, "id")))
        return broken(failure, RPC_INVALID_REQUEST, "id holds " UNREADABLE);
    if (!json_object_get(request->message, "method")) { /* a caller may wait for this answer */
        json_object_del(request->message, "result");
        json_object_del(request->message, "error");
    }

    enum rpc_parsed parsed = parse_members(request, failure);
    if (parsed == RPC_PARSED_REQUEST && json_is_damaged(request->params))
        return broken(failure, RPC_INVALID_PARAMS, "params hold " UNREADABLE);
    return parsed;
}

enum rpc_parsed rpc_parse(struct request **out, const char *text, size_t length,
                          struct rpc_failure *failure, char why[JSON_ERROR_TEXT_LENGTH])
{
    struct request *request = calloc(1, sizeof(*request));
    json_error_t error = { 0 };
    enum rpc_parsed parsed;
    bool damaged;

    if (!request)
        return RPC_PARSED_NO_MEMORY;
    request->message = json_read(text, length, &damaged, &error);
    if (!request->message) {
        snprintf(why, JSON_ERROR_TEXT_LENGTH, "%s", error.text);
        parsed = json_error_code(&error) == json_error_out_of_memory ? RPC_PARSED_NO_MEMORY
                                                                     : RPC_PARSED_NO_JSON;
    } else if (!json_is_object(request->message)) {
        parsed = RPC_PARSED_NO_MAP;
    } else {
        parsed = damaged ? parse_damaged(request, failure) : parse_members(request, failure);
    }
    if (parsed == RPC_PARSED_REQUEST || parsed == RPC_PARSED_REPLY || parsed == RPC_PARSED_BROKEN)
        *out = request;
    else
        request_free(request);
    return parsed;
}

void request_finish(struct request *request)
{
    if (request->unfinished)
        request->unfinished->free(request->unfinished);
    request->unfinished = NULL;
}

void request_free(struct request *request)
{
    if (!request)
        return;
    request_finish(request);
    json_decref(request->message);
    json_decref(request->kept);
    free(request);
}

const char *request_param(struct request *request, const char *name)
{
    json_t *value = json_object_get(request->params, name), *text;

    if (!value)
        return NULL;
    if (json_is_string(value))
        return json_string_value(value);
    if (!request->kept)
        request->kept = json_object();
    text = json_object_get(request->kept, name);
    if (!text) {
        text = value_text(value);
        if (json_object_set_new(request->kept, name, text) < 0)
            return "";
    }
    return json_string_value(text);
}

char *rpc_message_text(json_t *message)
{
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;

    json_decref(message);
    return text;
}

char *rpc_result_text(const struct request *request, const json_t *result)
{
    return rpc_message_text(
        json_pack("{s:s, s:O, s:O}", "jsonrpc", "2.0", "id", request->id, "result", result));
}

char *rpc_envelope_text(const struct request *request)
{
    char *id = json_dumps(request->id, JSON_COMPACT | JSON_ENCODE_ANY), *text = NULL;

    if (id && asprintf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":", id) < 0)
        text = NULL;
    free(id);
    return text;
}

/* The parameters as the VM would have seen them. */
static json_t *params_echo(const struct request *request)
{
    json_t *echo = json_object();
    const char *name;
    json_t *value;

    json_object_foreach(request->params, name, value)
        json_object_set_new(echo, name, value_text(value));
    return echo;
}

static json_t *error_data(const struct request *request, const struct rpc_failure *failure)
{
    json_t *data = json_object();

    if (!failure->routing)
        json_object_set_new(data, "request",
                            json_pack("{s:O, s:o}", "method",
                                      json_object_get(request->message, "method"), "params",
                                      params_echo(request)));
    if (failure->details)
        json_object_set_new(data, "details", json_string(failure->details));
    if (failure->dds_uri)
        json_object_set_new(data, "ddsUri", json_string(failure->dds_uri));
    return data;
}

/* data is an object or not there: a client that reads a string here never completes its call. */
char *rpc_error_text(const struct request *request, const struct rpc_failure *failure)
{
    json_t *data = error_data(request, failure);
    json_t *id = request->id ? json_incref(request->id) : json_null();
    json_t *error = json_pack("{s:i, s:s}", "code", errors[failure->error].code, "message",
                              errors[failure->error].message);

    if (json_object_size(data))
        json_object_set(error, "data", data);
    json_decref(data);
    return rpc_message_text(
        json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", id, "error", error));
}

char *rpc_failure_text(json_t *id, enum rpc_error error, const char *details)
{
    json_t *data = details ? json_pack("{s:s}", "details", details) : NULL;

    return rpc_message_text(json_pack("{s:s, s:O, s:{s:i, s:s, s:o*}}", "jsonrpc", "2.0", "id", id,
                                      "error", "code", errors[error].code, "message",
                                      errors[error].message, "data", data));
}

char *rpc_notification_text(const char *stream, json_t *event)
{
    return rpc_message_text(json_pack("{s:s, s:s, s:{s:s, s:o}}", "jsonrpc", "2.0", "method",
                                      "streamNotify", "params", "streamId", stream, "event",
                                      event));
}
