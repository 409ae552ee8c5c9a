// What is lost, where the page is connected, and what went wrong.
import { backend, data, info, link, newest, problem } from "../state/live";
import { ending, grouped, periodText } from "./format";

const CAUSES: Record<string, string> = {
  ring_full: "ring full: the collector was too slow",
  no_slot: "more threads than the feed has room for",
  no_tables: "the stack could not be walked yet: unwind tables were being built",
  overrun: "the thread could not get on between its ticks",
  no_timer: "the kernel gave a thread no timer",
  modules_full: "too many modules",
  awake: "the thread woke up just then",
  late: "the tick came too late",
  sandboxed: "a seccomp filter ended sampling",
  no_thread: "the thread had ended",
  slowed: "the period was lengthened to let the thread get on",
};

function Lost() {
  const lost = Object.entries(newest.value?.lost ?? {}).sort((a, b) => b[1] - a[1]);
  if (!lost.length) return null;
  const total = lost.reduce((sum, [, count]) => sum + count, 0);
  return (
    <span class="warn">
      {grouped(total)} {total === 1 ? "tick" : "ticks"} without a sample:{" "}
      {CAUSES[lost[0][0]] ?? lost[0][0]}
      {lost.length > 1 && " "}
      {lost.length > 1 && (
        <Why>
          {lost.map(([cause, count]) => `${grouped(count)}: ${CAUSES[cause] ?? cause}`).join("\n")}
        </Why>
      )}
    </span>
  );
}

/** What has no room in the line, on a click. */
function Why({ children }: { children: string }) {
  return (
    <details>
      <summary>why?</summary>
      <div>{children}</div>
    </details>
  );
}

function Rate() {
  const service = info.value;
  if (!service || !service.truePeriod_us || service.truePeriod_us <= 1.05 * service.period_us)
    return null;
  return (
    <span class="warn">
      asked {periodText(service.period_us)}, the timer ({service.timer}) keeps{" "}
      {periodText(service.truePeriod_us)}
    </span>
  );
}

function Symbols() {
  const { done, asked } = info.value?.symbols ?? { done: 0, asked: 0 };
  return done < asked ? (
    <span>
      Symbols loading: {done} of {asked} modules
    </span>
  ) : null;
}

function Link() {
  const state = link.value;
  if (state.state === "open") return <span>{location.host} · connected</span>;
  if (state.state === "connecting") return <span>{location.host} · connecting</span>;
  if (state.state === "refused") return <span class="warn">refused: {state.reason}</span>;
  return (
    <span class="warn">
      {location.host} · not connected, next try in {Math.ceil(state.retryMs / 1000)} s{" "}
      <button onClick={() => backend().say({ say: "retry" })}>Try now</button>
    </span>
  );
}

export function Status() {
  const evicted = data.value?.evicted ?? 0;
  return (
    <footer aria-live="polite">
      {problem.value && (
        <span class="warn" dir="auto">
          {problem.value} <button onClick={() => (problem.value = "")}>OK</button>
        </span>
      )}
      <Lost />
      <Rate />
      <Symbols />
      {evicted > 0 && <span>{grouped(evicted)} old samples were forgotten here</span>}
      <i class="space" />
      <Link />
    </footer>
  );
}

/** Across the page: what one must know to read what it shows. */
export function Banner() {
  const service = info.value;
  const state = link.value.state;
  const processes = service?.processes ?? [];
  const ended = processes.length > 0 && !processes.some(({ live }) => live);
  if (state === "refused") return null; // the view says it
  if (ended) {
    const what = newest.value?.samples ? "this is what was recorded" : "nothing was recorded";
    return (
      <div class="banner">
        The program {ending(processes)}; {what}.
      </div>
    );
  }
  if (state === "lost" && data.value)
    return <div class="banner">The service does not answer; this is what came until then.</div>;
  return null;
}
