// Steps of the selection as entries of the browser's history: Back and Forward undo and redo them, and
// each entry's address has its fragment.
import { effect } from "@preact/signals";
import { fromFragment, toFragment } from "./fragment";
import { held, heldAt_us } from "./live";
import { goToStep, isGoing, select, selection, step } from "./selection";

const WAIT_MS = 300; // browsers refuse too many changes of the address

const HELD = "held"; // beside the selection: neither Back nor Forward changes it

/** The fragment of a link to what is seen now; "": it is as at the start. */
export function fragmentNow(): string {
  const held_us = held.value ? heldAt_us.value : 0;
  const words = [toFragment(selection.value), held_us ? `${HELD}=${held_us}` : ""].filter(Boolean).join("&");
  return words && `#${words}`;
}

/** Of a link that holds the view. */
function readHeld(): void {
  const time_us = Number(new URLSearchParams(location.hash.slice(1)).get(HELD));
  if (!(time_us > 0 && time_us < 2 ** 53)) return;
  held.value = true;
  heldAt_us.value = time_us;
}

/** What is to be written, and was not yet. */
let waiting: { how: "pushState" | "replaceState"; url: string; step: number } | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let written = 0; // the step of the entry that is the newest

function write(): void {
  clearTimeout(timer);
  if (!waiting) return;
  const { how, url, step } = waiting;
  waiting = null;
  written = step;
  try {
    // Entries of before a reload are another page's.
    history[how]({ page: performance.timeOrigin, step }, "", url);
  } catch {
    // Safari's way to refuse too many; the next change writes it.
  }
}

export function keepHistory(): void {
  selection.value = fromFragment(location.hash);
  readHeld();
  const here = () => {
    waiting = { how: "replaceState", url: location.href, step: step.value };
    write();
  };
  here();
  addEventListener("popstate", ({ state }) => {
    waiting = null;
    if (state?.page === performance.timeOrigin) {
      written = state.step; // the entry is there
      if (goToStep(state.step)) return;
    }
    // Written by hand, of before a reload, or too long ago: a step of its own, whose entry is there.
    written = step.value + 1;
    select(fromFragment(location.hash));
    here();
  });
  effect(() => {
    const url = fragmentNow() || location.pathname;
    const now = step.value;
    if (waiting && waiting.step < now) write(); // what came of the step before
    clearTimeout(timer);
    const isNew = now > written;
    waiting = { how: isNew ? "pushState" : "replaceState", url, step: now };
    if (isNew && !isGoing()) write();
    else timer = setTimeout(write, WAIT_MS);
  });
}

/** One step back, if there is one in this page. */
export function stepBack(): void {
  write();
  if (step.value > 0) history.back();
}
