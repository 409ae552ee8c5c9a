#!/usr/bin/env python3
"""A look into a running program, cell by cell, as in a notebook.

    python3 examples/notebook.py http://127.0.0.1:8181/TOKEN=/ [FOLDER]

Editors that know `# %%` (VS Code, Spyder, PyCharm) run it a cell at a time; Jupyter opens it by
jupytext. There a tree or a table as a cell's last line shows itself. Run as a script it writes them
into FOLDER.
"""

# %% What is there
import sys
from pathlib import Path

from isoscope import Client, bottom_up, call_tree
from isoscope.errors import IsoscopeError
from isoscope.trees import difference, hot_spots

uri = sys.argv[1]
folder = Path(sys.argv[2] if len(sys.argv) > 2 else ".")

with Client(uri) as client:
    profile = client.profile()
print(f"{len(profile):,} samples of {', '.join(p.label for p in profile.processes)}")

# %% The calls, outermost first. Click a line to open it
tree = call_tree(profile)
(folder / "tree.html").write_text(tree._repr_html_(), encoding="utf-8")

# %% The functions that executed, and who called them
turned = bottom_up(tree)
(folder / "bottom_up.html").write_text(turned._repr_html_(), encoding="utf-8")

# %% Each function once
table = tree.table()
(folder / "table.html").write_text(table._repr_html_(), encoding="utf-8")
for row in table.rows[:5]:
    callers = ", ".join(item.name for item, _ in row.callers.most_common(2))
    print(f"{tree.share(row.self_weight):6.1%}  {row.name}  called by {callers or 'nobody'}")

# %% Hot spots, by line
for spot in hot_spots(profile, threshold=0.05).spots:
    hottest = spot.lines[0]
    where = f"line {hottest.line}" if hottest.line else "of no known line"
    print(f"{spot.share:6.1%}  {spot.row.name}: {hottest.self_count:,} samples {where}")

# %% The second half of the time beside the first
middle_us = (profile.first_us + profile.last_us) // 2
halves = [profile.window(None, middle_us), profile.window(middle_us + 1, None)]
for change in difference(*[call_tree(half, group="all") for half in halves]).rows[:5]:
    print(f"{change.self_change:+7.1%}  {change.item.name}")

# %% With pandas, anything else
try:
    frame = profile.to_frame()
except IsoscopeError as error:
    print(error)
else:
    print(frame.groupby(["thread", "library"])["cpu_us"].sum().sort_values(ascending=False).head())
