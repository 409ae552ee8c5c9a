// The sheet of filters: what processes, threads, tags, states and libraries there are in the window.
import type { Filter } from "../../data/filter";
import type { Facet, Facets } from "../../data/sums/facets";
import { useAnswer } from "../../state/answer";
import { data, look, processName } from "../../state/live";
import { filtersShown } from "../../state/page";
import { select, selection } from "../../state/selection";
import { grouped } from "../parts/format";
import { Sheet } from "../parts/sheet";

const SHOWN = 200; // of a kind: the busiest

const KINDS: { kind: keyof Facets; title: string }[] = [
  { kind: "processes", title: "Process" },
  { kind: "threads", title: "Thread" },
  { kind: "tags", title: "User tag" },
  { kind: "states", title: "State" },
  { kind: "libraries", title: "Library of the leaf" },
];

/** With value in or out; all of them is no filter. */
function toggled<T>(wanted: T[] | undefined, all: T[], value: T): T[] | undefined {
  const now = wanted ?? all;
  const next = now.includes(value) ? now.filter((one) => one !== value) : [...now, value];
  return all.every((one) => next.includes(one)) ? undefined : next;
}

function change(kind: keyof Facets, values: unknown[] | undefined): void {
  const filter: Filter = { ...selection.value.filter, [kind]: values };
  if (!values) delete filter[kind];
  select({ filter, zoom: [] });
}

/** Kinds that can tell samples apart, or that do. */
const isTold = (kind: keyof Facets) =>
  kind !== "tags" || data.value?.hasTags || selection.value.filter.tags;

function textOf(kind: keyof Facets, facet: Facet<unknown>): string {
  return kind === "processes" ? processName(facet.value as number) : facet.text || "(none)";
}

function Kind({
  kind,
  title,
  list,
}: {
  kind: keyof Facets;
  title: string;
  list: Facet<unknown>[];
}) {
  const wanted = selection.value.filter[kind] as unknown[] | undefined;
  const all = list.map(({ value }) => value);
  return (
    <fieldset>
      <legend>
        {title}{" "}
        {wanted && (
          <button type="button" onClick={() => change(kind, undefined)}>
            all
          </button>
        )}
      </legend>
      <div>
        {list.slice(0, SHOWN).map((facet) => (
          <label dir="auto">
            <input
              type="checkbox"
              checked={!wanted || wanted.includes(facet.value)}
              onChange={() => change(kind, toggled(wanted, all, facet.value))}
            />{" "}
            <span class="name">{textOf(kind, facet)}</span>
            <button type="button" title="Only this one" onClick={() => change(kind, [facet.value])}>
              only
            </button>
            <span class="number">{grouped(facet.samples)}</span>
          </label>
        ))}
        {list.length > SHOWN && <p class="faint">and {grouped(list.length - SHOWN)} more</p>}
      </div>
    </fieldset>
  );
}

export function Filters() {
  const { window_us, until } = look.value.filter;
  const filter = { ...(window_us && { window_us }), ...(until !== undefined && { until }) };
  const found = useAnswer("facets", filtersShown.value ? { ...look.value, filter } : null);
  return (
    <Sheet shown={filtersShown} label="Filters" class="filters">
      <div class="kinds">
        {found &&
          KINDS.filter(({ kind }) => isTold(kind)).map(({ kind, title }) => (
            <Kind key={kind} kind={kind} title={title} list={found[kind] as Facet<unknown>[]} />
          ))}
      </div>
    </Sheet>
  );
}
