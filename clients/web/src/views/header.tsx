// Who is profiled, what the sampler does, search.
import { useEffect, useState } from "preact/hooks";
import type { SearchResult } from "../worker/messages";
import type { Command } from "../wire/service";
import { backend, held, hold, info, link } from "../state/live";
import { adjust, selection, START } from "../state/selection";
import { isDark, theme } from "./colours";
import { clock, grouped, percent, periodText } from "./format";
import { helpShown } from "../state/page";

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
  const live = processes.filter((one) => one.live);
  const now = useClock(live.length > 0 && link.value.state === "open");
  if (!first) return <div class="program">isoscope</div>;
  const running = live.length ? `running ${clock(now - first.startMs)}` : "ended";
  const more = processes.length > 1 ? ` · ${processes.length} processes` : "";
  return (
    <div class="program" dir="auto">
      <b>{first.name}</b> · pid {first.pid}
      {more} · {running}
    </div>
  );
}

function Recording() {
  const service = info.value;
  const linked = link.value.state === "open";
  const off = !linked || !service;
  const known = service
    ? [...new Set([...PERIODS_US, service.period_us])].sort((a, b) => a - b)
    : PERIODS_US;
  return (
    <div class="controls">
      <button
        aria-pressed={!held.value}
        title={held.value ? "Show what comes (space)" : "Hold this view; recording goes on (space)"}
        onClick={() => hold(!held.value)}
      >
        <i class={held.value ? "dot held" : "dot live"} />
        {held.value ? "held" : "live"}
      </button>
      <button
        disabled={off}
        title="Switches the profiler, for all clients"
        onClick={() => command({ set: "profiler", on: !service?.profiler })}
      >
        {service?.profiler === false ? "Record" : "Stop"}
      </button>
      <button
        disabled={off}
        title="Forgets all samples so far"
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

function SearchBox({ result }: { result: SearchResult | null }) {
  const { search } = selection.value;
  const found = result && search.text ? describe(result) : "";
  return (
    <div class="search">
      <input
        type="search"
        id="search"
        placeholder="search  /"
        aria-label="Search functions and libraries"
        value={search.text}
        onInput={({ currentTarget }) =>
          adjust({ search: { ...search, text: currentTarget.value } })
        }
        onKeyDown={(event) => {
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
    </div>
  );
}

function describe({ error, hits, nodes, share }: SearchResult): string {
  if (error) return "not an expression";
  const functions = hits.reduce((sum, one) => sum + one, 0);
  return `${grouped(functions)} functions, ${grouped(nodes)} places, ${percent(share, 1)}`;
}

export function Header({ search }: { search: SearchResult | null }) {
  return (
    <header>
      <Program />
      <Recording />
      <SearchBox result={search} />
      <button title="Keys (?)" onClick={() => (helpShown.value = true)}>
        ?
      </button>
      <button
        title="Light or dark"
        aria-label="Light or dark"
        onClick={() => (theme.value = isDark.value ? "light" : "dark")}
      >
        ◐
      </button>
    </header>
  );
}
