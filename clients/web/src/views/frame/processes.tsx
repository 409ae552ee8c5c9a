// The sheet of processes: who is sampled, how often; each can be switched, shown alone, or attached to.
import { useEffect, useState } from "preact/hooks";
import { backend, info } from "../../state/live";
import { processesShown } from "../../state/page";
import { select, selection } from "../../state/selection";
import type { PrivateProcessList as List } from "../../wire/protocol";
import type { ServiceCall } from "../../worker/messages";
import { grouped, periodText } from "../parts/format";
import { Sheet } from "../parts/sheet";

const EVERY_MS = 1000;
const LISTED = 200; // of each kind: who is not seen is searched for

function only(pid: number): void {
  const { threads: _, ...filter } = selection.value.filter;
  select({ filter: { ...filter, processes: [pid] }, zoom: [] });
  processesShown.value = false;
}

export function Processes() {
  const shown = processesShown.value;
  const [search, setSearch] = useState("");
  const [list, setList] = useState<List | null>(null);
  const [problem, setProblem] = useState("");
  const [turn, setTurn] = useState(0); // another one: it is asked anew
  const call = (method: ServiceCall["method"], params: object) => backend().ask("call", { method, params });
  const act = (method: ServiceCall["method"], params: object) =>
    call(method, params)
      .then(() => setProblem(""), ({ message }: Error) => setProblem(message))
      .then(() => setTurn((one) => one + 1));
  useEffect(() => {
    if (!shown) return;
    let left = false;
    const look = () => {
      if (document.hidden) return;
      call("_getProcessList", { search, count: LISTED, others: true }).then(
        (found) => left || setList(found as List),
        ({ message }: Error) => left || setProblem(message),
      );
    };
    look();
    const timer = setInterval(look, EVERY_MS);
    return () => {
      left = true;
      clearInterval(timer);
    };
  }, [shown, search, turn]);
  const seen = info.value?.processes.map(({ pid }) => pid) ?? [];
  return (
    <Sheet shown={processesShown} label="Processes" class="processes">
      <input
        type="search"
        placeholder="name, path or pid…"
        aria-label="Find processes"
        value={search}
        onInput={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <p role="status">{problem || (list && `${grouped(list.found)} sampled`)}</p>
      <div class="rest">
        <table>
          <thead>
            <tr>
              <th>Sampled</th>
              <th class="number">pid</th>
              <th>Program</th>
              <th class="number">Period</th>
              <th class="number">CPU</th>
              <th class="number">Samples</th>
              <th />
            </tr>
          </thead>
          <tbody>
            {list?.processes.map(({ pid, name, exe, place, sampling, periodMicros, timer, cpuMicros, samples }) => (
              <tr key={pid}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Sample ${name}, ${pid}`}
                    checked={sampling}
                    onChange={() => act("_setProcessSampling", { pid, sampling: sampling ? "off" : "on" })}
                  />
                </td>
                <td class="number">{pid}</td>
                <td title={exe} dir="auto">
                  {name} <small>{place}</small>
                </td>
                <td class="number">{periodText(periodMicros)}</td>
                <td class="number">{(cpuMicros / 1e6).toFixed(1)} s</td>
                <td class="number">{grouped(samples)}</td>
                <td>
                  {seen.includes(pid) && (
                    <button type="button" title="Show this one alone" onClick={() => only(pid)}>
                      only
                    </button>
                  )}
                  {list.attaches && (timer === "perf" || timer === "suspend") && (
                    <button type="button" onClick={() => act("_detach", { pid })}>
                      detach
                    </button>
                  )}
                </td>
              </tr>
            ))}
            {list?.others.map(({ pid, name }) => (
              <tr key={pid} class="faint">
                <td />
                <td class="number">{pid}</td>
                <td dir="auto">{name}</td>
                <td colSpan={3} />
                <td>
                  <button
                    type="button"
                    title="Sample it from outside"
                    onClick={() => act("_attach", { pid })}
                  >
                    attach
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Sheet>
  );
}
