// What keys do, wherever the page is; rows of tables have the arrows for themselves.
import { GROUPS } from "../data/group";
import { held, hold } from "../state/live";
import { select, selection, START, toggle, transform, undo, VIEWS } from "../state/selection";
import { filtersShown, helpShown, hits, savingShown, zoomOverview } from "../state/page";
import { compareWithWindow } from "./compare";
import { copyStack } from "./save";
import { TIME_KEYS } from "./time_keys";

interface Key {
  keys: string; // as the help sheet shows them
  does: string;
  match(key: string): boolean;
  act(key: string): void;
}

const one = (wanted: string) => (key: string) => key === wanted;

export const KEYS: Key[] = [
  {
    keys: `1 – ${VIEWS.length}`,
    does: "views",
    match: (key) => Number(key) >= 1 && Number(key) <= VIEWS.length,
    act: (key) => select({ view: VIEWS[Number(key) - 1] }),
  },
  {
    keys: "space",
    does: "hold the view, or live again",
    match: one(" "),
    act: () => hold(!held.value),
  },
  {
    keys: "/",
    does: "search",
    match: one("/"),
    act: () => document.getElementById("search")?.focus(),
  },
  {
    keys: "[ ]",
    does: "the function before or after among those that search found, heaviest first",
    match: (key) => key === "[" || key === "]",
    act: (key) => pickHit(key === "]" ? 1 : -1),
  },
  {
    keys: "f",
    does: "focus the picked function: only stacks with it, from it on",
    match: one("f"),
    act: () => withPicked((fn) => transform({ kind: "focus-function", fn })),
  },
  {
    keys: "h",
    does: "hide the picked function: its samples are its caller's",
    match: one("h"),
    act: () => withPicked((fn) => transform({ kind: "hide-function", fn })),
  },
  {
    keys: "g",
    does: "group: one tree, by process, thread, tag, state, library",
    match: one("g"),
    act: () => {
      const next = (GROUPS.indexOf(selection.value.group) + 1) % GROUPS.length;
      select({ group: GROUPS[next], zoom: [] });
    },
  },
  {
    keys: "j",
    does: "join recursion: a function that calls itself is one frame",
    match: one("j"),
    act: () => toggle({ kind: "join-recursion" }),
  },
  {
    keys: "t",
    does: "filter: threads, processes, tags, states, libraries",
    match: one("t"),
    act: () => (filtersShown.value = true),
  },
  {
    keys: "c",
    does: "compare with the window that is selected now",
    match: one("c"),
    act: compareWithWindow,
  },
  {
    keys: "y",
    does: "copy the picked stack as text",
    match: one("y"),
    act: () => void copyStack(),
  },
  {
    keys: "e",
    does: "save and open files",
    match: one("e"),
    act: () => (savingShown.value = true),
  },
  {
    keys: "z",
    does: "zoom the overview to the window",
    match: one("z"),
    act: () => zoomOverview(true),
  },
  {
    keys: "0",
    does: "the whole: no zoom, no window",
    match: one("0"),
    act: () => {
      const { window_us: _, ...filter } = selection.value.filter;
      select({ zoom: [], chart: {}, filter });
      zoomOverview(false);
    },
  },
  {
    keys: "o",
    does: `to the overview: ${TIME_KEYS}`,
    match: one("o"),
    act: () => document.getElementById("overview")?.focus(),
  },
  {
    keys: "s",
    does: "source of the picked function",
    match: one("s"),
    act: () => select({ view: "source" }),
  },
  {
    keys: "u",
    does: "samples or time",
    match: one("u"),
    act: () => select({ unit: selection.value.unit === "samples" ? "time" : "samples" }),
  },
  {
    keys: "r",
    does: "root above or below",
    match: one("r"),
    act: () => select({ rootBelow: !selection.value.rootBelow }),
  },
  { keys: "Esc", does: "one step back", match: one("Escape"), act: () => void undo() },
  {
    keys: "?",
    does: "this sheet",
    match: one("?"),
    act: () => (helpShown.value = !helpShown.value),
  },
];

function pickHit(step: number): void {
  const { length } = hits.value;
  if (!length) return;
  const at = hits.value.indexOf(selection.value.picked);
  const next = at < 0 ? (step > 0 ? 0 : length - 1) : (at + step + length) % length;
  select({ picked: hits.value[next] });
}

function withPicked(act: (fn: string) => void): void {
  if (selection.value.picked !== START.picked) act(selection.value.picked);
}

export function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target as HTMLElement;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || target.closest("dialog")) return;
  if (event.key === " " && target.tagName === "BUTTON") return; // it presses the button
  const key = KEYS.find(({ match }) => match(event.key));
  if (!key) return;
  event.preventDefault();
  key.act(event.key);
}
