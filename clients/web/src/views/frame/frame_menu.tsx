// What can be done with a frame: the menu on it, wherever it is shown.
import type { GroupBy } from "../../data/group";
import type { Transform } from "../../data/shape";
import { data, functionOfKey, info, libraryOf, names, problem } from "../../state/live";
import { menuAt } from "../../state/page";
import { select, selection, START, transform } from "../../state/selection";
import { copyStack } from "../files/copy_stack";
import { Menu, type MenuItem } from "../parts/menu";

/** What trees can be grouped by, where there is more than one of it. */
export function groupings(): [GroupBy, string][] {
  const state = data.value;
  const processes = info.value?.processes.length ?? 0;
  const list: [GroupBy, string, boolean][] = [
    ["", "Not grouped", true],
    ["process", "By process", processes > 1],
    ["thread", "By thread", (state?.threads.length ?? 0) > 1],
    ["tag", "By user tag", state?.hasTags ?? false],
    ["state", "By state", (state?.states.length ?? 0) > 1],
    ["library", "By library", true],
  ];
  const now = selection.value.group;
  return list.filter(([by, , is]) => is || by === now).map(([by, text]) => [by, text]);
}

async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch (error) {
    problem.value = `cannot copy: ${(error as Error).message}`;
  }
}

const showSandwich = () => select({ view: "sandwich", sandwich: START.sandwich });

function itemsOf(picked: string, zoom?: () => void): (MenuItem | null)[] {
  const fn = data.value ? functionOfKey(picked) : -1; // -1: a group, or of another profile
  const known = names.functions[fn];
  const name = picked.slice(picked.indexOf("!") + 1);
  const library = libraryOf(fn).name;
  const item = (text: string, keys: string, act: (() => void) | null | undefined): MenuItem => ({
    text,
    keys,
    act: act ?? null,
  });
  const act = (one: Transform) => (known ? () => transform(one) : null);
  return [
    item("Zoom to this frame", "double click", zoom),
    item("Focus on function", "f", act({ kind: "focus-function", fn: picked })),
    item("Focus on library", "", act({ kind: "focus-library", library })),
    null,
    item("Merge into caller", "m", act({ kind: "hide-function", fn: picked })),
    item("Merge library into callers", "", act({ kind: "hide-library", library })),
    item("Hide: leave out its samples", "h", act({ kind: "drop-function", fn: picked })),
    item("Collapse its recursion", "j", act({ kind: "join-function", fn: picked })),
    null,
    ...groupings().map(([by, text]) => ({
      text,
      checked: by === selection.value.group,
      act: () => select({ group: by, zoom: [] }),
    })),
    null,
    item("Copy name", "", known && (() => void copyText(known.name))),
    item("Copy stack", "y", known && (() => void copyStack())),
    item("Show in sandwich", "w", known && showSandwich),
    item("Open source", "s", known?.file ? () => select({ view: "source" }) : null),
    item("Search for it", "", known && (() => select({ search: { text: name, regex: false } }))),
  ];
}

export function FrameMenu() {
  const at = menuAt.value;
  const { picked } = selection.value;
  if (!at || picked === START.picked) return null;
  return (
    <Menu
      at={at}
      label="Frame"
      items={itemsOf(picked, at.zoom)}
      close={() => (menuAt.value = null)}
    />
  );
}
