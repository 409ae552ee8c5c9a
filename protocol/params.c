#include "params.h"

#include "client/answer.h"
#include "client/client.h"
#include "generated/methods.h"
#include "methods.h"
#include "rpc/values.h"

#include <string.h>

/* What one check needs. */
struct check {
    struct client *client;
    struct request *request;
    const struct method *method;
    const struct param *param;
    const char *text; /* NULL: not given */
    void *value;      /* where it goes */
    struct reply *reply;
};

static enum params_checked invalid(const struct check *check)
{
    fail(check->client, RPC_INVALID_PARAMS, "%s: invalid '%s' parameter: %s", check->method->name,
         check->param->name, check->text);
    return PARAMS_FAILED;
}

/* isolateId is read by the VM's router, which does not echo requests. */
static enum params_checked invalid_isolate(const struct check *check, const char *shown)
{
    fail_routing(check->client, RPC_INVALID_PARAMS, "%s: invalid '%s' parameter: %s",
                 check->method->name, check->param->name, shown);
    return PARAMS_FAILED;
}

static enum params_checked gone(const struct check *check, const char *kind, const char *value)
{
    json_t *sentinel =
        json_pack("{s:s, s:s, s:s}", "type", TYPE_SENTINEL, "kind", kind, "valueAsString", value);

    return answer(check->client, check->reply, sentinel) < 0 ? PARAMS_FAILED : PARAMS_ANSWERED;
}

static const char *behind(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(text, prefix, length) ? NULL : text + length;
}

static enum params_checked check_isolate(const struct check *check)
{
    const char *number = behind(check->text, "isolates/");
    const struct isolate *isolate;
    int64_t id;

    if (!number || !value_int64(number, &id))
        return invalid_isolate(check, number ? number : check->text);
    isolate = isolates_find(&check->client->service->isolates, id);
    if (!isolate)
        return gone(check, "Collected", "<collected>");
    *(const struct isolate **)check->value = isolate;
    return PARAMS_GOOD;
}

static enum params_checked check_isolate_group(const struct check *check)
{
    const char *number = behind(check->text, "isolateGroups/");
    const struct process_info *process;
    int64_t id;

    if (!number || !value_int64(number, &id))
        return invalid(check);
    process = isolates_group(&check->client->service->isolates, id);
    if (!process)
        return gone(check, "Expired", "<expired>");
    *(const struct process_info **)check->value = process;
    return PARAMS_GOOD;
}

static enum params_checked check_integer(const struct check *check, int64_t least)
{
    int64_t value = check->param->missing;

    if (*check->text && (!value_int64(check->text, &value) || value < least))
        return invalid(check);
    *(int64_t *)check->value = value;
    return PARAMS_GOOD;
}

static enum params_checked check_bool(const struct check *check)
{
    bool value = !strcmp(check->text, "true");

    if (!value && strcmp(check->text, "false"))
        return invalid(check);
    *(bool *)check->value = value;
    return PARAMS_GOOD;
}

static enum params_checked check_string(const struct check *check)
{
    *(const char **)check->value = check->text;
    return PARAMS_GOOD;
}

/* An enum and its underlying int are one to the compiler. */
static enum params_checked check_word(const struct check *check)
{
    const char *const *words = check->param->words;

    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], check->text))
            continue;
        *(int *)check->value = i;
        return PARAMS_GOOD;
    }
    return invalid(check);
}

static enum params_checked check_list(const struct check *check)
{
    struct request *request = check->request;
    json_t *list = json_object_get(request->params, check->param->name);

    if (!json_is_array(list)) {
        list = value_list(check->text);
        if (!list)
            return invalid(check);
        /* The request keeps it for the handler. */
        if (!request->kept)
            request->kept = json_object();
        if (json_object_set_new(request->kept, "[list]", list) < 0)
            return invalid(check);
    }
    *(json_t **)check->value = list;
    return PARAMS_GOOD;
}

static enum params_checked check_object(const struct check *check)
{
    json_t *object = json_object_get(check->request->params, check->param->name);

    if (!json_is_object(object))
        return invalid(check);
    *(json_t **)check->value = object;
    return PARAMS_GOOD;
}

static enum params_checked check_missing(const struct check *check)
{
    const struct param *param = check->param;

    if (param->required) {
        fail(check->client, RPC_INVALID_PARAMS, "%s expects the '%s' parameter",
             check->method->name, param->name);
        return PARAMS_FAILED;
    }
    if (param->kind == PARAM_INT64 || param->kind == PARAM_UNSIGNED)
        *(int64_t *)check->value = param->missing;
    else if (param->kind == PARAM_BOOL)
        *(bool *)check->value = param->missing != 0;
    else if (param->kind == PARAM_WORD)
        *(int *)check->value = (int)param->missing;
    return PARAMS_GOOD;
}

static enum params_checked check_one(const struct check *check)
{
    if (!check->text)
        return check_missing(check);
    switch (check->param->kind) {
    case PARAM_ABSENT:
        return invalid(check);
    case PARAM_ISOLATE:
        return check_isolate(check);
    case PARAM_ISOLATE_GROUP:
        return check_isolate_group(check);
    case PARAM_INT64:
        return check_integer(check, INT64_MIN);
    case PARAM_UNSIGNED:
        return check_integer(check, 0);
    case PARAM_BOOL:
        return check_bool(check);
    case PARAM_STRING:
        return check_string(check);
    case PARAM_WORD:
        return check_word(check);
    case PARAM_LIST:
        return check_list(check);
    case PARAM_OBJECT:
        return check_object(check);
    }
    return invalid(check);
}

enum params_checked params_check(struct client *client, struct request *request,
                                 const struct method *method, union method_params *out,
                                 struct reply *reply)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < method->param_count; i++) {
        const struct param *param = &method->params[i];
        struct check check = {
            .client = client,
            .request = request,
            .method = method,
            .param = param,
            .text = request_param(request, param->name),
            .value = (char *)out + param->offset,
            .reply = reply,
        };
        enum params_checked checked = check_one(&check);

        if (checked != PARAMS_GOOD)
            return checked;
    }
    return PARAMS_GOOD;
}
