// A window of time as a user writes it: "2-5.5", seconds since the first sample.

/** null: all of the time, which is an empty text. undefined: it is no window. */
export function windowOf(text: string): [number, number] | null | undefined {
  if (!text.trim()) return null;
  const found = /^\s*(\d+(?:\.\d+)?)\s*(?:-|\s|,|\.\.)\s*(\d+(?:\.\d+)?)\s*$/.exec(text);
  if (!found) return undefined;
  const [from, to] = [Number(found[1]), Number(found[2])];
  return from < to ? [from, to] : undefined;
}
