/*
 * round_trips PORT PATH one|many|poll SECONDS - a client that costs as little as can be.
 *
 *     one     getVersion, one request in flight
 *     many    getVersion, 64 in flight
 *     poll    50 connections, each asks ten times a second for the new samples, in the table form
 *
 * Prints lines of a name and a number. Replies are not parsed beyond what is needed.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FLIGHT = 64, CLIENTS = 50, POLL_MS = 100, BUFFER_BYTES = 1 << 20, REQUEST_MAX = 400 };

struct client {
    int socket;
    uint8_t *buffer; /* [start, end) is not taken yet */
    size_t start, end;
    char cursor[160];
};

static void must(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void put(struct client *client, const void *bytes, size_t length)
{
    must(send(client->socket, bytes, length, MSG_NOSIGNAL) == (ssize_t)length, "send");
}

static void fill(struct client *client)
{
    ssize_t count;

    if (client->start) {
        memmove(client->buffer, client->buffer + client->start, client->end - client->start);
        client->end -= client->start;
        client->start = 0;
    }
    must(client->end < BUFFER_BYTES, "a message of more than a megabyte");
    count = recv(client->socket, client->buffer + client->end, BUFFER_BYTES - client->end, 0);
    must(count > 0, "recv");
    client->end += (size_t)count;
}

static void need(struct client *client, size_t bytes)
{
    while (client->end - client->start < bytes)
        fill(client);
}

static void connect_to(struct client *client, int port, const char *path)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    char request[512];
    int yes = 1, length = snprintf(request, sizeof(request),
                                   "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\n"
                                   "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                                   path, port);
    uint8_t *end = NULL;

    *client = (struct client){ .socket = socket(AF_INET, SOCK_STREAM, 0),
                               .buffer = malloc(BUFFER_BYTES) };
    must(client->buffer &&
             connect(client->socket, (struct sockaddr *)&address, sizeof(address)) == 0,
         "connect");
    setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    put(client, request, (size_t)length);
    while (!end) {
        fill(client);
        end = memmem(client->buffer, client->end, "\r\n\r\n", 4);
    }
    must(memmem(client->buffer, client->end, " 101 ", 5) != NULL, "the upgrade");
    client->start = (size_t)(end - client->buffer) + 4;
}

/* A text frame with a mask of zeros. Returns its bytes. */
static size_t frame(uint8_t *out, const char *text)
{
    size_t length = strlen(text), at = 2;

    out[0] = 0x81;
    if (length < 126) {
        out[1] = (uint8_t)(0x80 | length);
    } else {
        out[1] = 0x80 | 126;
        out[2] = (uint8_t)(length >> 8);
        out[3] = (uint8_t)length;
        at = 4;
    }
    memset(out + at, 0, 4);
    memcpy(out + at + 4, text, length);
    return at + 4 + length;
}

/* Takes one message, which may come in frames. Its first ones' begin is copied to head. */
static size_t take_message(struct client *client, char *head, size_t head_size)
{
    size_t total = 0;
    bool last = false;

    while (!last) {
        uint64_t length;
        size_t copied;

        need(client, 2);
        last = client->buffer[client->start] & 0x80;
        length = client->buffer[client->start + 1] & 0x7f;
        if (length >= 126) {
            size_t bytes = length == 126 ? 2 : 8;

            need(client, 2 + bytes);
            length = 0;
            for (size_t i = 0; i < bytes; i++)
                length = length << 8 | client->buffer[client->start + 2 + i];
            client->start += bytes;
        }
        client->start += 2;
        need(client, length);
        copied = total ? 0 : length < head_size - 1 ? length : head_size - 1;
        if (!total) {
            memcpy(head, client->buffer + client->start, copied);
            head[copied] = '\0';
        }
        client->start += length;
        total += length;
    }
    return total;
}

static void round_trips(struct client *client, int flight, double duration)
{
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"getVersion\"}";
    static uint8_t frames[FLIGHT * sizeof(request) * 2];
    size_t length = 0;
    double begin = seconds(), end = begin + duration;
    long count = 0;
    char head[64];

    for (int i = 0; i < flight; i++)
        length += frame(frames + length, request);
    while (seconds() < end) {
        put(client, frames, length);
        for (int i = 0; i < flight; i++, count++)
            take_message(client, head, sizeof(head));
    }
    printf("per_second %.0f\n", (double)count / (seconds() - begin));
}

static void ask(struct client *client)
{
    uint8_t bytes[REQUEST_MAX + 16];
    char text[REQUEST_MAX];

    snprintf(text, sizeof(text),
             "{\"id\":\"1\",\"method\":\"_getCpuSamples\",\"params\":{\"form\":\"table\"%s%s%s}}",
             *client->cursor ? ",\"cursor\":\"" : "", client->cursor, *client->cursor ? "\"" : "");
    put(client, bytes, frame(bytes, text));
}

static long number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    must(at != NULL, name);
    return atol(at + strlen(name));
}

/* Returns the samples in it. */
static long take_samples(struct client *client, size_t *bytes)
{
    static char head[2048];
    const char *next;

    *bytes += take_message(client, head, sizeof(head));
    next = strstr(head, "\"next\":\"");
    must(next != NULL, "the reply's cursor");
    next += strlen("\"next\":\"");
    snprintf(client->cursor, sizeof(client->cursor), "%.*s", (int)strcspn(next, "\""), next);
    return number_after(head, "\"sampleCount\":");
}

static void sleep_until(double when)
{
    double left = when - seconds();
    struct timespec pause = { (time_t)left, (long)((left - (double)(time_t)left) * 1e9) };

    if (left > 0)
        nanosleep(&pause, NULL);
}

static void poll_samples(struct client *clients, double duration)
{
    double begin = seconds(), longest = 0;
    long rounds = 0, samples = 0;
    size_t bytes = 0;

    while (seconds() < begin + duration) {
        double start = seconds();

        for (int i = 0; i < CLIENTS; i++)
            ask(&clients[i]);
        for (int i = 0; i < CLIENTS; i++)
            samples += take_samples(&clients[i], &bytes);
        longest = seconds() - start > longest ? seconds() - start : longest;
        rounds++;
        sleep_until(begin + (double)rounds * POLL_MS / 1000);
    }
    printf("rounds_per_second %.2f\nsamples %ld\nbytes %zu\nlongest_round_ms %.1f\n",
           (double)rounds / (seconds() - begin), samples / CLIENTS, bytes / CLIENTS,
           longest * 1000);
}

int main(int argc, char **argv)
{
    static struct client clients[CLIENTS];
    bool polls;

    if (argc != 5) {
        fprintf(stderr, "usage: round_trips PORT PATH one|many|poll SECONDS\n");
        return 2;
    }
    polls = !strcmp(argv[3], "poll");
    for (int i = 0; i < (polls ? CLIENTS : 1); i++)
        connect_to(&clients[i], atoi(argv[1]), argv[2]);
    if (polls)
        poll_samples(clients, atof(argv[4]));
    else
        round_trips(&clients[0], !strcmp(argv[3], "many") ? FLIGHT : 1, atof(argv[4]));
    return 0;
}
