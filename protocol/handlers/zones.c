#include "handlers.h"
#include "../client/client.h"
#include "../rpc/values.h"

#include <stdio.h>
#include <string.h>

/* The place of zone "zones/N" in the client's table; -1: it has none of that id. */
static int zone_at(const struct id_zones *zones, const char *id)
{
    int64_t number;

    if (strncmp(id, "zones/", 6) != 0 || !value_int64(id + 6, &number))
        return -1;
    for (unsigned i = 0; i < zones->count; i++)
        if (zones->numbers[i] == number)
            return (int)i;
    return -1;
}

static int invalid_zone(struct client *client, const char *method, const char *id)
{
    return fail(client, RPC_INVALID_PARAMS, "%s: invalid 'idZoneId' parameter: %s", method, id);
}

int handle_create_id_zone(struct client *client, const struct create_id_zone_params *params,
                          struct reply *reply)
{
    struct id_zones *zones = &client->zones;
    char id[32];

    if (zones->count == ID_ZONES_MAX)
        return fail(client, RPC_SERVER_ERROR, "createIdZone: this client has %d zones already",
                    ID_ZONES_MAX);
    zones->numbers[zones->count++] = ++zones->made;
    snprintf(id, sizeof(id), "zones/%u", zones->made);
    return answer(client, reply,
                  json_pack("{s:s, s:s, s:s, s:s}", "type", TYPE_ID_ZONE, "id", id,
                            "backingBufferKind", zone_buffer_words[params->backing_buffer_kind],
                            "idAssignmentPolicy", zone_ids_words[params->id_assignment_policy]));
}

int handle_delete_id_zone(struct client *client, const struct delete_id_zone_params *params,
                          struct reply *reply)
{
    struct id_zones *zones = &client->zones;
    int at = zone_at(zones, params->id_zone_id);

    if (at < 0)
        return invalid_zone(client, "deleteIdZone", params->id_zone_id);
    zones->numbers[at] = zones->numbers[--zones->count];
    return answer_success(client, reply);
}

int handle_invalidate_id_zone(struct client *client, const struct invalidate_id_zone_params *params,
                              struct reply *reply)
{
    if (strcmp(params->id_zone_id, "zones/0") != 0 &&
        zone_at(&client->zones, params->id_zone_id) < 0)
        return invalid_zone(client, "invalidateIdZone", params->id_zone_id);
    return answer_success(client, reply);
}
