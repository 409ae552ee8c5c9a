// Who is profiled, what the sampler does, search.
import { useEffect, useId, useState } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { SearchResult } from "../../worker/messages";
import type { Command } from "../../wire/service";
import { backend, functionOfKey, held, hold, info, keyOfFunction } from "../../state/live";
import { arrange } from "../../state/room";
import { withHits } from "../../state/hits";
import { adjust, select, selection, START } from "../../state/selection";
import { canRecord, isWithoutProgram, shownName, standing } from "../../state/standing";
import { isDark, theme } from "../parts/colours";
import { clock, grouped, percent, periodText } from "../parts/format";
import { helpShown, processesShown, savingShown } from "../../state/page";
import { useRoving } from "../parts/roving";
import { HITS_LISTED, HitList } from "./hit_list";
import type { KindSwitch } from "./kind_switch";

const PERIODS_US = [100, 250, 500, 1000, 2000, 5000, 10000];

function command(wanted: Command): void {
  backend().say({ say: "command", command: wanted });
}

/** The time of day in ms, again each second while live. */
function useClock(live: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!live) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [live]);
  return now;
}

function Program() {
  const processes = info.value?.processes ?? [];
  const [first] = processes;
  const { kind, word } = standing.value;
  const now = useClock(canRecord.value);
  const more = processes.length > 1 ? ` · ${processes.length} processes` : "";
  return (
    <div class="program">
      <span class={`standing ${kind}`} role="status">
        {kind === "recording" && <i class="dot live" />}
        {word}
        {held.value && ", view frozen"}
      </span>
      <b dir="auto">{shownName.value ?? "isoscope"}</b>
      {first && kind !== "file" && kind !== "saved" && (
        <button
          class="faint"
          title="List the processes"
          disabled={!canRecord.value}
          onClick={() => (processesShown.value = true)}
        >
          pid {first.pid}
          {more}
          {canRecord.value && ` · ${clock(now - first.startMs)}`}
        </button>
      )}
    </div>
  );
}

function Recording() {
  const service = info.value;
  const off = !canRecord.value;
  const paused = standing.value.kind === "paused";
  const known = service
    ? [...new Set([...PERIODS_US, service.period_us])].sort((a, b) => a - b)
    : PERIODS_US;
  return (
    <div class="controls" role="toolbar" aria-label="Recording" {...useRoving()}>
      <button
        disabled={off && !held.value}
        aria-pressed={held.value}
        title={
          held.value
            ? "Show new samples again (space)"
            : "Keep what is shown as it is; recording goes on (space)"
        }
        onClick={() => hold(!held.value)}
      >
        {held.value ? "Go live" : "Freeze"}
      </button>
      <button
        disabled={off}
        title={paused ? "Turn the profiler on, for all clients" : "Turn the profiler off, for all clients"}
        onClick={() => command({ set: "profiler", on: paused })}
      >
        {paused ? "Record" : "Pause"}
      </button>
      <button
        disabled={off}
        title="Delete all samples so far"
        onClick={() => command({ set: "clear" })}
      >
        Clear
      </button>
      <select
        disabled={off}
        aria-label="Sampling period"
        title="How often a thread is sampled"
        value={String(service?.period_us ?? 1000)}
        onChange={({ currentTarget }) =>
          command({ set: "period", period_us: Number(currentTarget.value) })
        }
      >
        {known.map((period) => (
          <option value={String(period)}>{periodText(period)}</option>
        ))}
      </select>
      <select
        disabled={off}
        aria-label="What is sampled"
        title="CPU: threads that run. Wall: those that wait, too"
        value={service?.mode ?? "cpu"}
        onChange={({ currentTarget }) =>
          command({ set: "mode", mode: currentTarget.value as "cpu" | "wall" })
        }
      >
        <option value="cpu">CPU</option>
        <option value="wall">Wall</option>
      </select>
    </div>
  );
}

/** Where keys lead to in the list; from -1: they are on none yet. */
const MOVES: Record<string, (at: number) => number> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => (at < 0 ? -1 : at - 1),
  Enter: (at) => Math.max(0, at),
};

const COMBOBOX = { role: "combobox" } as object; // it has a list, whatever its type says

function SearchBox({ result }: { result: SearchResult | null }) {
  const { search } = selection.value;
  const found = result && search.text ? describe(result) : "";
  const [listed, setListed] = useState(false);
  const at = useSignal(-1); // in the list
  const id = useId();
  const isListed = listed && Boolean(search.text) && result !== null && !result.error;
  const go = (move: (at: number) => number) =>
    withHits((order) => {
      const count = Math.min(order.length, HITS_LISTED);
      at.value = (move(at.value) + count) % count;
      select({ picked: keyOfFunction(order[at.value]) }, "search");
    });
  return (
    <div
      class="search"
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) setListed(false);
      }}
    >
      <input
        type="search"
        id="search"
        placeholder="search  /"
        {...COMBOBOX}
        aria-expanded={isListed}
        aria-controls={id}
        aria-activedescendant={isListed && at.value >= 0 ? `${id}-${at.value}` : undefined}
        autocomplete="off"
        onFocus={() => setListed(true)}
        aria-label="Search functions and libraries"
        value={search.text}
        onInput={({ currentTarget }) => {
          setListed(true);
          at.value = -1;
          adjust({ search: { ...search, text: currentTarget.value } });
        }}
        onKeyDown={(event) => {
          const move = MOVES[event.key];
          // Of a text that was typed just now there may be no list yet.
          if (move && listed && selection.value.search.text) {
            event.preventDefault();
            go(move);
          }
          if (event.key !== "Escape") return;
          adjust({ search: START.search });
          event.currentTarget.blur();
          event.stopPropagation();
        }}
      />
      <button
        aria-pressed={search.regex}
        title="As a regular expression"
        onClick={() => adjust({ search: { ...search, regex: !search.regex } })}
      >
        .*
      </button>
      <output class={result?.error ? "wrong" : ""} title={result?.error}>
        {found}
      </output>
      {isListed && <HitList id={id} result={result} at={at.value} />}
    </div>
  );
}

function describe({ error, hits, order, nodes, share }: SearchResult): string {
  if (error) return "not an expression";
  const functions = hits.reduce((sum, one) => sum + one, 0);
  const at = order.indexOf(functionOfKey(selection.value.picked));
  const place = at < 0 ? "" : `${grouped(at + 1)} of `;
  return `${place}${grouped(functions)} functions, ${grouped(nodes)} places, ${percent(share, 1)}`;
}

interface HeaderProps {
  search: SearchResult | null;
  KindSwitch?: typeof KindSwitch; // once it is there
}

export function Header({ search, KindSwitch }: HeaderProps) {
  return (
    <header>
      <Program />
      {!isWithoutProgram.value && <Recording />}
      {KindSwitch && <KindSwitch />}
      <SearchBox result={search} />
      <div class="controls" role="toolbar" aria-label="Page" {...useRoving()}>
      <button title="Save and open files (e)" onClick={() => (savingShown.value = true)}>
        Save…
      </button>
      <button title="Keys (?)" onClick={() => (helpShown.value = true)}>
        ?
      </button>
      <button
        title="Light or dark"
        aria-label="Light or dark"
        onClick={() => {
          theme.value = isDark.value ? "light" : "dark";
          arrange({ theme: theme.value });
        }}
      >
        ◐
      </button>
      </div>
    </header>
  );
}
