// The views by name, and the breadcrumbs: what was done to the tree, each of it to be undone.
import type { GroupBy } from "../data/group";
import type { Transform } from "../data/shape";
import { data, names } from "../state/live";
import { filtersShown } from "../state/page";
import {
  select,
  selection,
  systemHidden,
  toggle,
  untransform,
  type View,
} from "../state/selection";

const TABS: [View, string][] = [
  ["flame", "Flame"],
  ["chart", "Chart"],
  ["tree", "Call tree"],
  ["bottom-up", "Bottom-up"],
  ["table", "Table"],
  ["source", "Source"],
  ["compare", "Compare"],
];

const GROUPS: [GroupBy, string][] = [
  ["", "one tree"],
  ["process", "by process"],
  ["thread", "by thread"],
  ["tag", "by tag"],
  ["state", "by state"],
  ["library", "by library"],
];

const FILTERS = ["processes", "threads", "tags", "states", "libraries"] as const;

const LISTED = 3; // values of a filter: of more it is told how many

const nameOf = (key: string) => key.slice(key.indexOf("!") + 1);

function described(one: Transform): string {
  switch (one.kind) {
    case "hide-function":
      return `without ${nameOf(one.fn)}`;
    case "hide-library":
      return `without ${one.library}`;
    case "focus-function":
      return `only ${nameOf(one.fn)}`;
    case "focus-library":
      return `only ${one.library}`;
    case "join-recursion":
      return "recursion joined";
    case "hide-system":
      return "without system libraries";
  }
}

function Crumbs() {
  const { transforms, zoom, filter } = selection.value;
  const without = (name: keyof typeof filter) => () => {
    const { [name]: _, ...rest } = filter;
    select({ filter: rest });
  };
  const chips: [string, () => void][] = [];
  if (filter.window_us) {
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
  for (const one of transforms)
    if (one.kind !== "hide-system") chips.push([described(one), () => untransform(one)]);
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
  const { view, unit, group } = selection.value;
  const systems = data.value !== null && names.libraries.some(({ system }) => system);
  return (
    <div class="tabs">
      <div role="tablist">
        {TABS.map(([id, name]) => (
          <button role="tab" aria-selected={id === view} onClick={() => select({ view: id })}>
            {name}
          </button>
        ))}
      </div>
      <Crumbs />
      <i class="space" />
      <button
        title="Threads, processes, tags, states, libraries (t)"
        aria-pressed={FILTERS.some((kind) => selection.value.filter[kind])}
        onClick={() => (filtersShown.value = true)}
      >
        Filter…
      </button>
      <select
        aria-label="Group"
        title="What the roots of the trees are (g)"
        value={group}
        onChange={({ currentTarget }) =>
          select({ group: currentTarget.value as GroupBy, zoom: [] })
        }
      >
        {GROUPS.map(([by, text]) => (
          <option value={by}>{text}</option>
        ))}
      </select>
      {systems && (
        <button
          aria-pressed={systemHidden.value}
          title="System libraries are their callers' time"
          onClick={() => toggle({ kind: "hide-system" })}
        >
          fold system
        </button>
      )}
      <button
        title="Samples or CPU time (u)"
        onClick={() => select({ unit: unit === "samples" ? "time" : "samples" })}
      >
        {unit}
      </button>
    </div>
  );
}
