// What is lost, where the page is connected, and what went wrong.
import { useState } from "preact/hooks";
import { backend, data, files, info, link, newest, problem } from "../../state/live";
import { standing } from "../../state/standing";
import { ending, grouped, periodText } from "../parts/format";
import { later } from "./later";
import { SavedWords } from "../files/saved_words";
import { CpuTime, Unsampled } from "./sampled";

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
      Symbols loading: {done} of {asked} libraries
    </span>
  ) : null;
}

function Link() {
  const state = link.value;
  if (state.state === "none") return null;
  if (state.state === "open") return <span>{location.host} · connected</span>;
  if (state.state === "connecting") return <span>{location.host} · connecting</span>;
  if (state.state === "refused") return <span class="warn">refused: {state.reason}</span>;
  return (
    <span class={standing.value.kind === "ended" ? "faint" : "warn"}>
      {location.host} · not connected, next try in {Math.ceil(state.retryMs / 1000)} s{" "}
      <button onClick={() => backend().say({ say: "retry" })}>Try now</button>
    </span>
  );
}

export function Status() {
  const { evicted = 0, lostEvents = 0, evictedEvents = 0 } = data.value ?? {};
  const { Losses } = later.value;
  return (
    <footer aria-live="polite">
      {problem.value && (
        <span class="warn" dir="auto">
          {problem.value} <button onClick={() => (problem.value = "")}>OK</button>
        </span>
      )}
      {Losses && <Losses />}
      <Unsampled />
      <CpuTime />
      <Rate />
      <Symbols />
      {evicted > 0 && <span>{grouped(evicted)} old samples were forgotten here</span>}
      {lostEvents > 0 && (
        <span class="warn" title="A thread told more than its ring holds until the service reads it, or there was no memory for them">
          {grouped(lostEvents)} events lost
        </span>
      )}
      {evictedEvents > 0 && <span>{grouped(evictedEvents)} old events were forgotten</span>}
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
  const [closed, setClosed] = useState(false);
  if (state === "refused") return null; // the view says it
  if (service?.saved.length && !files.value.shown) {
    if (closed) return null;
    return (
      <div class="banner">
        <span>
          <SavedWords of={service.saved} names={service.saved.length > 1} />
          {service.saved.length === 1 && ended && `The program ${ending(processes)}.`}
        </span>
        <button class="close" aria-label="Close this line" onClick={() => setClosed(true)}>
          ×
        </button>
      </div>
    );
  }
  if (ended) {
    if (closed) return null;
    const what = newest.value?.samples ? "this is what was recorded" : "nothing was recorded";
    return (
      <div class="banner">
        The program {ending(processes)}; {what}.
        <button class="close" aria-label="Close this line" onClick={() => setClosed(true)}>
          ×
        </button>
      </div>
    );
  }
  if (state === "lost" && data.value)
    return <div class="banner">The service does not answer; this is what came until then.</div>;
  return null;
}
