"""NVTX as CUDA's Python programs have it: ranges of a domain, marks, one that begins and ends apart. Prints its own clock's sums."""

import json
import time

import nvtx

own: dict[str, float] = {"decode": 0.0}


@nvtx.annotate("decode", domain="media", color="blue")
def decode(seconds: float) -> None:
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        pass
    own["decode"] += time.monotonic() - began


for number in range(10):
    with nvtx.annotate("picture", domain="media", payload=number):
        decode(0.005)
        decode(0.002)
    nvtx.mark("shown", domain="media")
whole = nvtx.start_range("apart", domain="media")
nvtx.end_range(whole)
print(json.dumps({"seconds": own, "counts": {"decode": 20, "picture": 10}, "instants": {"shown": 10}, "apart": ["apart"]}))
