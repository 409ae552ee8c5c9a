// What keys do, wherever the page is; rows of tables have the arrows for themselves.
import { held, hold, keyOfFunction, kindShown, switchUnit } from "../../state/live";
import { kinds, showKind, wantedKind } from "../../state/kind";
import { withHits } from "../../state/hits";
import { FRAMES, framesShown, select, selection, showFrames, START, toggle, transform, VIEWS } from "../../state/selection";
import { filtersShown, helpShown, savingShown, zoomOverview } from "../../state/page";
import { groupings } from "./frame_menu";
import { later } from "./later";
import { tip } from "../parts/tip";
import { stepBack } from "../../state/history";
import { arrange, room } from "../../state/room";
import { compareWithWindow, keepMoment } from "../compare/begin";
import { copyStack } from "../files/copy_stack";
import { TIME_KEYS } from "../overview/time_keys";

interface Key {
  keys: string; // as the help sheet shows them
  does: string;
  match(key: string): boolean;
  act(key: string): void;
}

function nextKind(): void {
  const all = kinds.value;
  if (all.length > 1) showKind(all[(all.indexOf(wantedKind.value) + 1) % all.length]);
}

const one = (wanted: string) => (key: string) => key === wanted;

export const KEYS: Key[] = [
  {
    keys: "1 – 9",
    does: "views",
    match: (key) => /^[1-9]$/.test(key),
    act: (key) => select({ view: VIEWS[Number(key) - 1] }),
  },
  {
    keys: "space",
    does: "freeze the view, or go live again",
    match: one(" "),
    act: () => hold(!held.value),
  },
  {
    keys: "/",
    does: "search",
    match: one("/"),
    act: () => {
      document.querySelector<HTMLDialogElement>("dialog[open]")?.close();
      document.getElementById("search")?.focus();
    },
  },
  {
    keys: "[ ]",
    does: "previous or next hit, heaviest first",
    match: (key) => key === "[" || key === "]",
    act: (key) => pickHit(key === "]" ? 1 : -1),
  },
  {
    keys: "f",
    does: "focus the selected function: keep only stacks with it, from it on",
    match: one("f"),
    act: () => withPicked((fn) => transform({ kind: "focus-function", fn })),
  },
  {
    keys: "h",
    does: "hide the selected function: leave out the samples with it",
    match: one("h"),
    act: () => withPicked((fn) => transform({ kind: "drop-function", fn })),
  },
  {
    keys: "m",
    does: "merge the selected function into its callers",
    match: one("m"),
    act: () => withPicked((fn) => transform({ kind: "hide-function", fn })),
  },
  {
    keys: "g",
    does: "group the trees",
    match: one("g"),
    act: () => {
      const all = groupings().map(([by]) => by);
      const next = (all.indexOf(selection.value.group) + 1) % all.length;
      select({ group: all[next], zoom: [] });
    },
  },
  {
    keys: "a",
    does: "all frames; only your own functions; the interpreter folded; the system folded",
    match: one("a"),
    act: () => showFrames(FRAMES[(FRAMES.indexOf(framesShown.value) + 1) % FRAMES.length]),
  },
  {
    keys: "j",
    does: "collapse recursion: of the selected function, else of all",
    match: one("j"),
    act: () => {
      const fn = selection.value.picked;
      toggle(fn ? { kind: "join-function", fn } : { kind: "join-recursion" });
    },
  },
  {
    keys: "t",
    does: "filter",
    match: one("t"),
    act: () => (filtersShown.value = true),
  },
  {
    keys: "c",
    does: "use the selected range as baseline, and compare; of what is live: this moment",
    match: one("c"),
    act: () => (kindShown.value.isMoment ? keepMoment() : compareWithWindow()),
  },
  {
    keys: "y",
    does: "copy the selected stack as text",
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
    does: "zoom the overview to the range",
    match: one("z"),
    act: zoomOverview,
  },
  {
    keys: "0",
    does: "show everything: no zoom, no range",
    match: one("0"),
    act: () => {
      const { window_us: _, ...filter } = selection.value.filter;
      select({ zoom: [], chart: {}, filter, overview: null });
    },
  },
  {
    keys: "o",
    does: `go to the overview: ${TIME_KEYS}`,
    match: one("o"),
    act: () => document.getElementById("overview")?.focus(),
  },
  {
    keys: "d",
    does: "side panel: open, or close",
    match: one("d"),
    act: () => {
      if (document.getElementById("side")?.contains(document.activeElement)) focusPane("view");
      arrange({ side: !room.value.side });
    },
  },
  { keys: "v", does: "to the view", match: one("v"), act: () => focusPane("view") },
  {
    keys: "F6",
    does: "to the next pane: header, overview, tabs, view, side panel",
    match: one("F6"),
    act: () => nextPane(),
  },
  {
    keys: "n",
    does: "find threads by name",
    match: one("n"),
    act: () => document.getElementById("find-threads")?.focus(),
  },
  {
    keys: "s",
    does: "open the source of the selected function",
    match: one("s"),
    act: () => select({ view: "source" }),
  },
  {
    keys: "w",
    does: "sandwich: the selected function between its callers and callees",
    match: one("w"),
    act: () => select({ view: "sandwich", sandwich: START.sandwich }),
  },
  {
    keys: "x",
    does: "events: slices by name, and frames",
    match: one("x"),
    act: () => select({ view: "events" }),
  },
  {
    keys: "l",
    does: "stalls: loops that were late, and why",
    match: one("l"),
    act: () => select({ view: "stalls" }),
  },
  {
    keys: ", .",
    does: "previous or next stall: select its thread and its time",
    match: (key) => key === "," || key === ".",
    act: (key) => later.value.stepStall?.(key === "." ? 1 : -1),
  },
  {
    keys: "u",
    does: "switch between samples and time, or objects and bytes",
    match: one("u"),
    act: switchUnit,
  },
  {
    keys: "k",
    does: "next kind of samples: time, allocated, live",
    match: one("k"),
    act: nextKind,
  },
  {
    keys: "i",
    does: "flame graph: inverted",
    match: one("i"),
    act: () => select({ inverted: !selection.value.inverted, zoom: [] }),
  },
  {
    keys: "r",
    does: "root at the top or at the bottom",
    match: one("r"),
    act: () => select({ rootBelow: !selection.value.rootBelow }),
  },
  { keys: "Esc", does: "undo one step", match: one("Escape"), act: stepBack },
  {
    keys: "?",
    does: "show this list",
    match: one("?"),
    act: () => (helpShown.value = !helpShown.value),
  },
];

/** What has the focus of each pane. */
const PANES = {
  header: "#search",
  overview: "#overview",
  tabs: "[role=tab][aria-selected=true]",
  view: ".view [tabindex='0']:not([role=separator])",
  side: "#side",
};
type Pane = keyof typeof PANES;

function focusPane(pane: Pane): boolean {
  const element = document.querySelector<HTMLElement>(PANES[pane]);
  element?.focus();
  return element !== null;
}

function nextPane(): void {
  const all = Object.keys(PANES) as Pane[];
  const around: Record<string, Pane> = { HEADER: "header", MAIN: "view", ASIDE: "side" };
  const place = document.activeElement?.closest("header, #overview, .tabs, aside, main");
  const now = !place ? -1 : all.indexOf(around[place.tagName] ?? (place.id || place.className));
  for (let i = 1; i <= all.length; i++) if (focusPane(all[(now + i) % all.length])) return;
}

function pickHit(step: number): void {
  withHits((order) => {
    const { length } = order;
    const at = order.findIndex((fn) => keyOfFunction(fn) === selection.value.picked);
    const next = at < 0 ? (step > 0 ? 0 : length - 1) : (at + step + length) % length;
    select({ picked: keyOfFunction(order[next]) });
  });
}

function withPicked(act: (fn: string) => void): void {
  if (selection.value.picked !== START.picked) act(selection.value.picked);
}

export function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target as HTMLElement;
  const isTyped = target.tagName === "INPUT" && /^(search|text)$/.test((target as HTMLInputElement).type);
  const isAnywhere = event.key === "F6" || (event.key === "/" && !isTyped);
  const isOthers = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || target.closest("dialog");
  if (isOthers && !isAnywhere) return;
  if (event.key === " " && target.tagName === "BUTTON") return; // it presses the button
  const key = KEYS.find(({ match }) => match(event.key));
  if (!key) return;
  event.preventDefault();
  tip.value = null;
  key.act(event.key);
}
