// Where the lines of a text are in a later version of it. A line has a place there only where it is the same, to the
// letter, and stands between lines that have theirs: no line is guessed.

export const GONE = -1;

/** By line of before (from 0 on): the line of after, or GONE. */
export function mapLines(before: readonly string[], after: readonly string[]): Int32Array {
  const map = new Int32Array(before.length).fill(GONE);
  join(map, before, after, 0, before.length, 0, after.length);
  return map;
}

function join(map: Int32Array, before: readonly string[], after: readonly string[], ...range: number[]): void {
  let [from, to, first, last] = range;
  while (from < to && first < last && before[from] === after[first]) map[from++] = first++;
  while (from < to && first < last && before[to - 1] === after[last - 1]) map[--to] = --last;
  if (from === to || first === last) return;
  const anchors = anchorsOf(before, after, from, to, first, last);
  for (const [old, now] of anchors) {
    if (map[old] !== GONE) continue; // beside another anchor
    map[old] = now;
    // What is the same around an anchor, as far as the one before.
    for (let a = old - 1, b = now - 1; a >= from && b >= first && before[a] === after[b]; a--, b--) map[a] = b;
    let [a, b] = [old + 1, now + 1];
    while (a < to && b < last && before[a] === after[b] && map[a] === GONE) map[a++] = b++;
    [from, first] = [a, b];
  }
}

/** Lines that are in both ranges once, in an order that both have. */
function anchorsOf(before: readonly string[], after: readonly string[], ...range: number[]): [number, number][] {
  const [from, to, first, last] = range;
  const [old, now] = [onceIn(before, from, to), onceIn(after, first, last)];
  const pairs: [number, number][] = [];
  for (const [text, at] of old) {
    const there = now.get(text);
    if (there !== undefined && at >= 0 && there >= 0) pairs.push([at, there]);
  }
  return rising(pairs.sort((a, b) => a[0] - b[0]));
}

/** The line of each text; GONE: it is there more than once. */
function onceIn(lines: readonly string[], from: number, to: number): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = from; at < to; at++) found.set(lines[at], found.has(lines[at]) ? GONE : at);
  return found;
}

/** The longest part of the list whose second numbers rise, too. */
function rising(pairs: [number, number][]): [number, number][] {
  const ends: number[] = []; // by length: the pair that ends such a list with the least number
  const previous = new Int32Array(pairs.length).fill(-1);
  pairs.forEach(([, there], i) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]][1] < there) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[i] = ends[low - 1];
    ends[low] = i;
  });
  const list: [number, number][] = [];
  for (let i = ends.at(-1) ?? -1; i >= 0; i = previous[i]) list.push(pairs[i]);
  return list.reverse();
}
