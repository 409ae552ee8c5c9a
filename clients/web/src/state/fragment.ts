// The selection as the fragment of a URL: what is as at the start is left out.
import { type Selection, START, VIEWS } from "./selection";

export function toFragment(selection: Selection): string {
  const words = new URLSearchParams();
  for (const name of Object.keys(START) as (keyof Selection)[]) {
    const text = JSON.stringify(selection[name]);
    if (text !== JSON.stringify(START[name]))
      words.set(name, typeof START[name] === "string" ? String(selection[name]) : text);
  }
  return words.toString();
}

/** What it does not know, or what has another form than it should, is left as at the start. */
export function fromFragment(fragment: string): Selection {
  const words = new URLSearchParams(fragment.replace(/^#/, ""));
  const selection: Record<string, unknown> = { ...START };
  for (const [name, start] of Object.entries(START)) {
    const text = words.get(name);
    if (text === null) continue;
    const value = typeof start === "string" ? text : parsed(text);
    const known = name !== "view" || (VIEWS as readonly unknown[]).includes(value);
    if (known && sameForm(value, start)) selection[name] = value;
  }
  return selection as unknown as Selection;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sameForm(value: unknown, start: unknown): boolean {
  if (value === null || typeof value !== typeof start) return false;
  return Array.isArray(value) === Array.isArray(start);
}
