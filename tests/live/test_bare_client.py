"""Whoever has a WebSocket library and a JSON parser can read a profile."""

from __future__ import annotations

import json
from collections import Counter

import websocket
from harness import profiled, workload


def bare_tree(uri):
    """{path of names, outermost first: (self, total)}, from the reply's tables alone."""
    socket = websocket.create_connection(
        uri.replace("http:", "ws:") + "ws", skip_utf8_validation=True
    )

    def call(method, **params):
        socket.send(json.dumps({"jsonrpc": "2.0", "id": "1", "method": method, "params": params}))
        return json.loads(socket.recv())["result"]

    own, total = Counter(), Counter()
    for isolate in call("getVM")["isolates"]:
        if ":main()" not in isolate["name"]:
            continue  # a thread: its samples are among its process'
        reply = call("_getCpuSamples", isolateId=isolate["id"], timestamp=0, count=1_000_000)
        libraries = {library["id"]: library["uri"] for library in reply["libraries"]}
        functions = {
            f["id"]: (f["name"], libraries[f["owner"]["id"]]) for f in reply["functions"]
        }
        for sample in reply["samples"]:
            path = (isolate["id"],)
            for frame in reversed(sample["stack"]):
                total[path] += 1
                path += (functions[frame["function"]["id"]],)
            total[path] += 1
            own[path] += 1
    socket.close()
    return {path: (own[path], total[path]) for path in total}


def our_tree(tree):
    paths = {}
    for node, parent in tree.walk():
        if parent is None:
            paths[node] = (node.key,)
        else:
            paths[node] = (*paths[parent], (node.function.name, node.function.library.uri))
    return {path: (node.self_count, node.total_count) for node, path in paths.items()}


def test_thirty_lines_of_client_find_the_same_tree_as_ours():
    with profiled([workload("forks"), "0.2"]) as service:
        bare, ours = bare_tree(service.uri), our_tree(service.tree())
    assert len(bare) > 10
    assert bare == ours
