// Threads as a table: what each weighs, when and in which states it was seen. A click selects one's samples.
import { useId } from "preact/hooks";
import { ACTIVITY_STEPS } from "../../data/sums/thread_rows";
import { useAnswer } from "../../state/answer";
import { byUnit, data, isTime, look, processName, unitWord } from "../../state/live";
import { adjust, select, selection } from "../../state/selection";
import type { SearchResult, ThreadTable as Table } from "../../worker/messages";
import { FunctionName, Share, timeText } from "../parts/cells";
import { ink, stateColour, STATES, stateWord } from "../parts/colours";
import { Empty } from "../parts/empty";
import { grouped, percent } from "../parts/format";
import { Grid, rowOf } from "../parts/grid";
import type { Heading } from "../parts/head";
import { useRowsInSight } from "../parts/rows_in_sight";
import { threadsOf } from "./lanes";

export function ThreadTable({ search }: { search: SearchResult | null }) {
  const { threads: _, processes: __, ...filter } = look.value.filter;
  const { threadSort: sort, laneFind: find } = selection.value;
  const table = useAnswer("threadTable", { ...look.value, filter, sort, find });
  if (!table || !data.value) return null;
  if (!table.rows.length && !find) return <Empty />;
  return (
    <div class="stacked">
      <Bar shown={table.rows.length} />
      <div class="rest">
        <Rows table={table} search={search} />
      </div>
    </div>
  );
}

function Bar({ shown }: { shown: number }) {
  const { laneFind, filter } = selection.value;
  const picked = filter.threads?.length ?? 0;
  return (
    <div class="bar-of-view">
      <input
        type="search"
        placeholder="name, pid or tid…"
        aria-label="Find threads by name, pid or tid"
        value={laneFind}
        onInput={({ currentTarget: { value } }) =>
          laneFind ? adjust({ laneFind: value }) : select({ laneFind: value })
        }
      />
      <span>
        {grouped(shown)} {shown === 1 ? "thread" : "threads"}
        {picked > 0 && `, ${grouped(picked)} selected`}
      </span>
      {picked > 0 && <button onClick={clear}>Show all threads</button>}
    </div>
  );
}

function clear(): void {
  const { threads: _, processes: __, ...filter } = selection.value.filter;
  select({ filter });
}

/** Those that the samples have, in the order of the legend. */
function statesSeen(): [name: string, state: number][] {
  const { states } = data.value!;
  return [...STATES.filter((one) => states.includes(one)), ...states.filter((one) => !STATES.includes(one))]
    .map((name) => [name, states.indexOf(name)]);
}

function Rows({ table, search }: { table: Table; search: SearchResult | null }) {
  const { threads, extent_us } = data.value!;
  const { filter } = selection.value;
  const { rows } = table;
  const id = useId();
  const sight = useRowsInSight(rows.length);
  const isPicked = (one: number) =>
    (!filter.threads || filter.threads.includes(threads[one].tid)) &&
    (!filter.processes || filter.processes.includes(threads[one].pid));
  const isNarrowed = Boolean(filter.threads || filter.processes);
  const at = filter.threads ? rows.findIndex(isPicked) : -1;
  const states = statesSeen();
  const weights = byUnit(table.samples, table.time_ns);
  const whole = weights.reduce((a, b) => a + b, 0);
  const seconds = (time_us: number) => `${((time_us - (extent_us?.[0] ?? 0)) / 1e6).toFixed(2)} s`;
  const pick = (one: number, together = false) => {
    const { processes: ___, ...rest } = filter;
    select({ filter: threadsOf(rest, [threads[one].tid], together) });
  };
  const go = (index: number) => {
    const { threads: ___, ...rest } = filter;
    select({ filter: threadsOf(rest, [threads[rows[index]].tid], false) });
    sight.reveal(index);
  };
  const statesText = (one: number) =>
    states
      .map(([name, state]) => [name, table.states[one * data.value!.states.length + state]] as const)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${stateWord(name)} ${percent(count, table.samples[one], table.samples[one])}`)
      .join(", ");
  const numbers = (one: number) => [
    processName(threads[one].pid),
    String(threads[one].tid),
    timeText(table.time_ns[one]),
    percent(weights[one], whole, table.samples[one]),
    grouped(table.samples[one]),
    seconds(table.first_us[one]),
    seconds(table.last_us[one]),
  ];
  const timeWord = isTime.value ? "CPU time" : unitWord.value;
  const headings: Heading[] = [
    ["name", "name", "thread"],
    ["process", "process", "process"],
    ["tid", "number tid", "tid"],
    ["time", "number time", timeWord],
    [byUnit("samples", "time"), "share", `of ${unitWord.value}`],
    ["samples", "number count", "samples"],
    ["first", "number first", "first seen"],
    ["last", "number last", "last seen"],
    ...(states.length > 1 ? ([["states", "states", "states"]] as Heading[]) : []),
    ["", "activity", "activity"],
    ["busiest", "busiest", "busiest function"],
  ];
  return (
    <Grid
      kind="threads"
      sight={sight}
      count={rows.length}
      row={(index) => {
        const one = rows[index];
        const [process, tid, time, , count, first, last] = numbers(one);
        const fn = table.busiest[one];
        const classes = ["row"];
        if (isNarrowed) classes.push(isPicked(one) ? "current" : "faint");
        if (search) classes.push(search.hits[fn] ? "hit" : "miss");
        return (
          <div
            key={one}
            class={classes.join(" ")}
            {...rowOf(index, index === at ? id : undefined)}
            aria-selected={isNarrowed && isPicked(one)}
            onClick={({ shiftKey, ctrlKey, metaKey }) => pick(one, shiftKey || ctrlKey || metaKey)}
          >
            <span class="name">
              <bdi title={threads[one].name}>{threads[one].name || "(no name)"}</bdi>
            </span>
            <span class="process" dir="auto" title={process}>
              {process}
            </span>
            <span class="number tid">{tid}</span>
            <span class="number time">{time}</span>
            <Share part={weights[one]} whole={whole} samples={table.samples[one]} />
            <span class="number count">{count}</span>
            <span class="number first">{first}</span>
            <span class="number last">{last}</span>
            {states.length > 1 && (
              <span class="states" title={statesText(one)}>
                {states.map(([name, state]) => (
                  <i
                    style={{
                      flexGrow: table.states[one * data.value!.states.length + state],
                      background: stateColour(name, ink.value),
                    }}
                  />
                ))}
              </span>
            )}
            <Activity of={table.activity.subarray(one * ACTIVITY_STEPS, (one + 1) * ACTIVITY_STEPS)} />
            <span class="busiest name">{fn >= 0 && <FunctionName fn={fn} />}</span>
          </div>
        );
      }}
      current={at >= 0 ? id : undefined}
      label="Threads; arrows select one"
      empty="No matching threads."
      sorted="threadSort"
      headings={headings}
      onKeyDown={(event) => sight.onKey(event, at, go)}
      onDblClick={clear}
      text={() => [
        ["process", "tid", timeWord, "share", "samples", "first", "last", "thread"],
        ...Array.from(rows, (one) => [...numbers(one), `${threads[one].name}  ${statesText(one)}`]),
      ]}
    />
  );
}

/** When it did not wait: as high as the busiest thread's busiest time. */
function Activity({ of }: { of: Float32Array }) {
  const points = Array.from(of, (value, step) => `L${step} ${(1 - value).toFixed(2)}h1`);
  return (
    <svg
      class="activity"
      viewBox={`0 0 ${ACTIVITY_STEPS} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={`M0 1${points.join("")}V1`} />
    </svg>
  );
}
