"""Profiles as call trees, bottom-up trees, tables, flame graphs, hot spots, differences.

    Profile -> call_tree -> CallTree -> bottom_up, Table.of, layout, difference
    Profile -> hot_spots
    text.py shows them to people, data.py gives them to programs, html.py to notebooks
"""

from .bottomup import bottom_up
from .calltree import CallTree, call_tree
from .diff import Change, Difference, difference
from .flame import Box, Layout, layout
from .function_table import FunctionRow, Table
from .hot import HotSpot, HotSpots, hot_spots
from .item import Item
from .nodes import Node, Tree

__all__ = [
    "Box",
    "CallTree",
    "Change",
    "Difference",
    "FunctionRow",
    "HotSpot",
    "HotSpots",
    "Item",
    "Layout",
    "Node",
    "Table",
    "Tree",
    "bottom_up",
    "call_tree",
    "difference",
    "hot_spots",
    "layout",
]
