"""Which colour a library has in pictures: as in the page, whose data/colour_slots.ts and
data/shades.ts say the same.

Everybody tells these colours apart, also without one kind of cones, and black letters can be read on
them. Each library has the colour that its name wishes for, and the busiest choose first: so most have
the same one in every profile. Shares count in halves (a half of all, a quarter, ...): in the page
colours stay while samples come. tests/labels/colours.json has the rule's cases.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Mapping

PALETTE = ("#8a8ae7", "#f3a845", "#30a8b1", "#e499e7", "#7b9921", "#e4f37b", "#d57b7b", "#6cd58d")
OTHERS = "#d4d4d4"  # further libraries, and what has none
SELF_STEPS = 3
_HALVINGS_MOST = 40
_NAME_SHADE = 0.06  # towards white, as the next one
_SELF_SHADE = 0.05


def slots_of(weights: Mapping[str, int]) -> dict[str, int]:
    """weights: self, by name. -> numbers of PALETTE; who is not in the answer is one of the others."""
    whole = sum(weights.values())
    ranked = sorted(weights, key=lambda name: (_halvings(weights[name], whole), name))
    slots: dict[str, int] = {}
    for name in ranked[: len(PALETTE)]:
        slot = _hash(name) % len(PALETTE)
        while slot in slots.values():
            slot = (slot + 1) % len(PALETTE)
        slots[name] = slot
    return slots


@lru_cache(maxsize=50_000)
def shaded(colour: str, name: str, step: int = 0) -> str:
    """Always the same for the same name. step: how much of a box is its own, 0 to SELF_STEPS: the more,
    the stronger."""
    part = _NAME_SHADE * (_hash(name) % 3) if name else 0.0
    part += _SELF_SHADE * (SELF_STEPS - step)
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{int(one + (255 - one) * part + 0.5):02x}" for one in parts)


def step_of(own: int, whole: int) -> int:
    return int(SELF_STEPS * own / whole + 0.5) if whole else 0


def _halvings(weight: float, whole: float) -> int:
    """How often the whole has to be halved to come down to that."""
    count = 0
    while count < _HALVINGS_MOST and weight < whole / 2:
        weight *= 2
        count += 1
    return count


def _hash(text: str) -> int:
    """FNV-1a of its UTF-16, mixed once more."""
    value = 2166136261
    coded = text.encode("utf-16-le", "surrogatepass")
    for at in range(0, len(coded), 2):
        value = ((value ^ int.from_bytes(coded[at : at + 2], "little")) * 16777619) & 0xFFFFFFFF
    return value ^ (value >> 15)
