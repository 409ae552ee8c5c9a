#include "handlers.h"
#include "../client/client.h"
#include "../events/offers.h"

int handle_register_service(struct client *client, const struct register_service_params *params,
                            struct reply *reply)
{
    int rc = offers_register(client, "registerService", params->service, params->alias);

    return rc < 0 ? rc : answer_success(client, reply);
}

int handle_private_register_service(struct client *client,
                                    const struct private_register_service_params *params,
                                    struct reply *reply)
{
    int rc = offers_register(client, "_registerService", params->service, params->alias);

    return rc < 0 ? rc : answer_success(client, reply);
}
