// Which of the colours a library has, or whatever else boxes are coloured by: a number of the palette.
//
// Everybody has a colour that its name wishes for, and the busiest choose first: so most libraries have the
// same one in every profile. Shares count in halves (a half of all, a quarter, ...), so that colours stay while
// samples come. tests/labels/colours.json has the rule's cases; the Python client follows it too (formats/colours.py).

const SLOTS = 8;
export const OTHERS = SLOTS; // what has no colour of its own

const HALVINGS_MOST = 40;

export function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return (h ^ (h >>> 15)) >>> 0;
}

/** How often all has to be halved to come down to that. */
function halvings(weight: number, all: number): number {
  let count = 0;
  for (; count < HALVINGS_MOST && weight < all / 2; count++) weight *= 2;
  return count;
}

/** weights: self, by name. Who is not in the answer is one of the others. */
export function slotsOf(weights: ReadonlyMap<string, number>): Map<string, number> {
  let all = 0;
  for (const weight of weights.values()) all += weight;
  const ranked = Array.from(weights, ([name, weight]) => ({ name, rank: halvings(weight, all) }));
  ranked.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  const slots = new Map<string, number>();
  const taken = new Set<number>();
  for (const { name } of ranked.slice(0, SLOTS)) {
    let slot = hash(name) % SLOTS;
    while (taken.has(slot)) slot = (slot + 1) % SLOTS;
    taken.add(slot);
    slots.set(name, slot);
  }
  return slots;
}
