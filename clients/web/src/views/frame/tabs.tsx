// The views by name, and the breadcrumbs: what was done to the tree, each of it to be undone.
import type { GroupBy } from "../../data/group";
import type { Transform } from "../../data/shape";
import { shortName } from "../../data/short_name";
import { useAnswer } from "../../state/answer";
import { byUnit, data, isTime, kindShown, look, names, switchUnit, unitWord } from "../../state/live";
import { filtersShown } from "../../state/page";
import { arrange, room } from "../../state/room";
import { percent } from "../parts/format";
import { useRoving } from "../parts/roving";
import { isOfTime } from "../parts/empty";
import { groupings } from "./frame_menu";
import { isFolding } from "../../worker/messages";
import {
  FRAMES,
  type Frames,
  framesShown,
  select,
  selection,
  showFrames,
  systemHidden,
  toggle,
  untransform,
  type View,
} from "../../state/selection";

const TABS: [View, string][] = [
  ["flame", "Flame"],
  ["chart", "Chart"],
  ["tree", "Call tree"],
  ["bottom-up", "Bottom-up"],
  ["table", "Table"],
  ["source", "Source"],
  ["compare", "Compare"],
  ["heat-map", "Heat map"],
  ["threads", "Threads"],
  ["sandwich", "Sandwich"],
  ["events", "Events"],
  ["stalls", "Stalls"],
];

const FRAME_WORDS: Record<Frames, string> = {
  all: "all frames",
  "only-mine": "only mine",
  "fold-runtime": "fold interpreter",
  "hide-system": "fold system",
};

/** Is anything in it run by an interpreter? Then frames can be told apart by that. */
const hasRuntimes = () => data.value !== null && names.libraries.some(({ runs }) => runs);

const FILTERS = ["processes", "threads", "tags", "states", "libraries", "packages", "kinds"] as const;

const LISTED = 3; // values of a filter: of more it is told how many

const NAME_MOST = 32; // letters of a name in a crumb

const fullName = (key: string) => key.slice(key.indexOf("!") + 1);
const nameOf = (key: string) => shortName(fullName(key), NAME_MOST);

function described(one: Transform): string {
  switch (one.kind) {
    case "hide-function":
      return `${nameOf(one.fn)} merged into callers`;
    case "hide-library":
      return `${one.library} merged into callers`;
    case "drop-function":
      return `${nameOf(one.fn)} hidden`;
    case "join-function":
      return `recursion of ${nameOf(one.fn)} collapsed`;
    case "focus-function":
      return `only ${nameOf(one.fn)}`;
    case "focus-library":
      return `only ${one.library}`;
    case "join-recursion":
      return "recursion collapsed";
    case "hide-system":
      return "system folded";
    case "only-mine":
      return "only mine; others folded";
    case "fold-runtime":
      return "interpreter folded";
  }
}

/** With how much of the selection's self time is shown as another function's. */
function useTold(): (one: Transform) => string {
  const { transforms } = selection.value;
  const isAny = transforms.some(({ kind }) => isFolding(kind));
  const summary = useAnswer("summary", isAny ? { filter: look.value.filter, transforms, group: "" } : null);
  return (one) => {
    const text = described(one);
    if (!summary || !isFolding(one.kind)) return text;
    const { samples, time_ns } = summary.folded[one.kind];
    return `${text}: ${percent(byUnit(samples, time_ns), byUnit(summary.count, summary.cpu_ns))} of self`;
  };
}

function Crumbs() {
  const { transforms, zoom, filter } = selection.value;
  const without = (name: keyof typeof filter) => () => {
    const { [name]: _, ...rest } = filter;
    select({ filter: rest });
  };
  const chips: [string, () => void][] = [];
  if (filter.window_us && !kindShown.value.isMoment) {
    const seconds = (filter.window_us[1] - filter.window_us[0]) / 1e6;
    chips.push([`${seconds.toFixed(2)} s`, without("window_us")]);
  }
  for (const name of FILTERS) {
    const values = filter[name];
    if (!values) continue;
    const { length } = values;
    const text = length > LISTED ? `${length} ${name}` : `${name}: ${values.join(", ")}`;
    chips.push([text, without(name)]);
  }
  const told = useTold();
  for (const one of transforms) chips.push([told(one), () => untransform(one)]);
  return (
    <nav class="crumbs" aria-label="Selection">
      {chips.map(([text, remove]) => (
        <button class="chip" title="Remove" onClick={remove} dir="auto">
          {text} ×
        </button>
      ))}
      {zoom.length > 0 && (
        <>
          <button onClick={() => select({ zoom: [] })}>all</button>
          {zoom.slice(-4).map((key, i, shown) => (
            <>
              <i>›</i>
              <button
                dir="auto"
                title={fullName(key)}
                onClick={() =>
                  select({
                    zoom: zoom.slice(0, zoom.length - shown.length + i + 1),
                  })
                }
              >
                {nameOf(key)}
              </button>
            </>
          ))}
        </>
      )}
    </nav>
  );
}

export function Tabs() {
  const { view, group, inverted, rootBelow } = selection.value;
  const systems = data.value !== null && names.libraries.some(({ system }) => system);
  const runtimes = hasRuntimes();
  return (
    <div class="tabs">
      <div role="tablist" aria-label="Views" {...useRoving(true)}>
        {TABS.map(([id, name], i) => (
          <button
            role="tab"
            title={`${name} (${i < 9 ? i + 1 : "wxl"[i - 9]})`}
            class={id === "stalls" && data.value?.stalls ? "warn" : isOfTime(id) ? "faint" : ""}
            aria-selected={id === view}
            onClick={() => select({ view: id })}
          >
            {name}
          </button>
        ))}
      </div>
      <Crumbs />
      <i class="space" />
      <div class="controls" role="toolbar" aria-label="What the views show" {...useRoving()}>
      {view === "flame" && (
        <>
          <button
            aria-pressed={inverted}
            title="Functions by their own time first, and their callers behind them (i)"
            onClick={() => select({ inverted: !inverted, zoom: [] })}
          >
            Inverted
          </button>
          <button
            aria-label={rootBelow ? "First row below" : "First row on top"}
            title="Grow upwards or downwards (r)"
            onClick={() => select({ rootBelow: !rootBelow })}
          >
            {rootBelow ? "↑" : "↓"}
          </button>
        </>
      )}
      <button
        title="Threads, processes, tags, states, libraries (t)"
        aria-pressed={FILTERS.some((kind) => selection.value.filter[kind])}
        onClick={() => (filtersShown.value = true)}
      >
        Filter…
      </button>
      <select
        aria-label="Group"
        title="Group the trees by (g)"
        value={group}
        onChange={({ currentTarget }) =>
          select({ group: currentTarget.value as GroupBy, zoom: [] })
        }
      >
        {groupings().map(([by, text]) => (
          <option value={by}>{text}</option>
        ))}
      </select>
      {runtimes && (
        <select
          aria-label="Frames"
          title="Your own functions, and what runs them (a)"
          value={framesShown.value}
          onChange={({ currentTarget }) => showFrames(currentTarget.value as Frames)}
        >
          {FRAMES.map((one) => (
            <option value={one}>{FRAME_WORDS[one]}</option>
          ))}
        </select>
      )}
      {systems && !runtimes && (
        <button
          aria-pressed={systemHidden.value}
          title="System libraries are their callers' time"
          onClick={() => toggle({ kind: "hide-system" })}
        >
          fold system
        </button>
      )}
      <button
        title={`${isTime.value ? "CPU time or samples" : kindShown.value.units.join(" or ")} (u)`}
        onClick={switchUnit}
      >
        {unitWord.value}
      </button>
      <button
        aria-pressed={room.value.side}
        aria-label="Side panel"
        title="Side panel (d)"
        onClick={() => arrange({ side: !room.value.side })}
      >
        ◨
      </button>
      </div>
    </div>
  );
}
