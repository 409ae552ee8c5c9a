#include "handshake.h"

#include "../../protocol/text/base64_digits.h"
#include "http_head.h"
#include "sha1.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define KEY_END "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455, 1.3 */

enum { KEY_LENGTH = 24 }; /* base64 of 16 bytes */

bool handshake_is_wanted(const struct http_request *request)
{
    /* Whatever else is offered ("h2c"), HTTP lets us pass over. */
    return request->minor >= 1 && !strcmp(request->method, "GET") &&
           http_field_lists(request, "Connection", "upgrade") &&
           http_field_lists(request, "Upgrade", "websocket");
}

static bool is_key(const char *key)
{
    if (strlen(key) != KEY_LENGTH || strcmp(key + KEY_LENGTH - 2, "==") != 0)
        return false;
    for (size_t i = 0; i < KEY_LENGTH - 2; i++)
        if (!isalnum((unsigned char)key[i]) && key[i] != '+' && key[i] != '/')
            return false;
    return true;
}

static_assert(HANDSHAKE_ACCEPT_BYTES == BASE64_TEXT_BYTES(SHA1_BYTES), "room for all digits");

static void accept_text(char out[HANDSHAKE_ACCEPT_BYTES], const char *key)
{
    char text[KEY_LENGTH + sizeof(KEY_END)];
    uint8_t hash[SHA1_BYTES];

    snprintf(text, sizeof(text), "%s" KEY_END, key);
    sha1(hash, text, strlen(text));
    base64_text(out, hash, sizeof(hash), BASE64_PLAIN);
}

/*
 * A client that offers subprotocols wants to hear one of them, or it hangs up; which one does not
 * matter here. Dart's tools offer "implicit-redirect" and the VM agrees to that one.
 */
static bool choose_subprotocol(char out[HANDSHAKE_SUBPROTOCOL_BYTES],
                               const struct http_request *request)
{
    const char *offered;

    out[0] = '\0';
    for (size_t at = 0; (offered = http_field_next(request, "Sec-WebSocket-Protocol", &at));)
        for (offered += strspn(offered, ", \t"); *offered; offered += strspn(offered, ", \t")) {
            size_t length = strcspn(offered, ", \t");

            if (length >= HANDSHAKE_SUBPROTOCOL_BYTES || !http_is_token(offered, length))
                return false;
            if (!out[0] || (length == 17 && !strncmp(offered, "implicit-redirect", length)))
                snprintf(out, HANDSHAKE_SUBPROTOCOL_BYTES, "%.*s", (int)length, offered);
            offered += length;
        }
    return true;
}

static void choose_extension(struct handshake *out, const struct http_request *request)
{
    const char *offered;

    for (size_t at = 0; (offered = http_field_next(request, "Sec-WebSocket-Extensions", &at));)
        if (packing_agree(offered, &out->packing, out->extension, sizeof(out->extension)))
            return;
}

bool handshake_read(struct handshake *out, const struct http_request *request, bool may_deflate)
{
    size_t at = 0;
    const char *key = http_field_next(request, "Sec-WebSocket-Key", &at);

    *out = (struct handshake){ .extension = "" };
    if (!key || !is_key(key) || http_field_next(request, "Sec-WebSocket-Key", &at) ||
        request->has_body || !choose_subprotocol(out->subprotocol, request))
        return false;
    accept_text(out->accept, key);
    if (may_deflate)
        choose_extension(out, request);
    return true;
}
