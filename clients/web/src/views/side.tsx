// The picked function: its share, where it is, who calls it, whom it calls.
import { type Neighbour } from "../data/neighbours";
import { useAnswer } from "../state/answer";
import { data, functionOfKey, keyOfFunction, look, nameOf, names } from "../state/live";
import { select, selection, transform } from "../state/selection";
import { duration, grouped, percent } from "./format";

const SHOWN = 12;

function List({ title, list, whole }: { title: string; list: Neighbour[]; whole: number }) {
  const { unit } = selection.value;
  if (!list.length) return null;
  return (
    <>
      <h3>{title}</h3>
      {list.slice(0, SHOWN).map(({ fn, samples, time_ns }) => (
        <button
          class="neighbour"
          disabled={fn < 0}
          onClick={() => select({ picked: keyOfFunction(fn) })}
        >
          <span class="number">
            {unit === "samples" ? percent(samples, whole, samples) : duration(time_ns)}
          </span>
          <span class="name" dir="auto">
            {fn < 0 ? "(thread's start)" : nameOf(fn)}
          </span>
        </button>
      ))}
      {list.length > SHOWN && <p class="faint">and {list.length - SHOWN} more</p>}
    </>
  );
}

export function Side() {
  const { picked } = selection.value;
  const fn = data.value ? functionOfKey(picked) : -1; // a group has no function
  const around = useAnswer("neighbours", fn < 0 ? null : { ...look.value, fn });
  const table = useAnswer("functions", fn < 0 ? null : look.value);
  if (!picked) return <aside class="faint">Click a frame to read about it.</aside>;
  if (fn < 0) return <aside class="faint">{picked} is not in this profile.</aside>;
  const { name, library, file, line, kind } = names.functions[fn];
  const owner = names.libraries[library];
  const whole = table?.whole.samples ?? 0;
  const row = (title: string, samples: number, time_ns: number) => (
    <tr>
      <th>{title}</th>
      <td>{percent(samples, whole, samples)}</td>
      <td>{grouped(samples)}</td>
      <td>{duration(time_ns)}</td>
    </tr>
  );
  return (
    <aside>
      <h2 dir="auto">{name}</h2>
      {table && (
        <table class="numbers">
          {row("self", table.samples.self[fn], table.time_ns.self[fn])}
          {row("total", table.samples.total[fn], table.time_ns.total[fn])}
        </table>
      )}
      <p class="faint" title={owner.path} dir="auto">
        {owner.name}
        {kind !== "Native" && ` · ${kind}`}
      </p>
      {file && (
        <p class="faint" dir="auto">
          {file}
          {line > 0 && `:${line}`}
        </p>
      )}
      <p>
        <button title="f" onClick={() => transform({ kind: "focus-function", fn: picked })}>
          Focus
        </button>{" "}
        <button title="h" onClick={() => transform({ kind: "hide-function", fn: picked })}>
          Hide
        </button>{" "}
        <button onClick={() => transform({ kind: "hide-library", library: owner.name })}>
          Hide library
        </button>
      </p>
      {around && (
        <>
          <List title="Callers" list={around.callers} whole={whole} />
          <List title="Callees" list={around.callees} whole={whole} />
        </>
      )}
    </aside>
  );
}
