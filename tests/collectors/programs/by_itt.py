"""ITT by Intel's own Python package: tasks in tasks, one that overlaps. Prints its own clock's sums."""

import json
import time

import ittapi

own = {"decode": 0.0}
for number in range(10):
    with ittapi.task("picture", domain="media"):
        for seconds in (0.005, 0.002):
            with ittapi.task("decode", domain="media"):
                began = time.monotonic()
                while time.monotonic() - began < seconds:
                    pass
                own["decode"] += time.monotonic() - began
with ittapi.overlapped_task("apart", domain="media"):
    pass
print(json.dumps({"seconds": own, "counts": {"decode": 20, "picture": 10}, "instants": {}, "apart": ["apart"]}))
