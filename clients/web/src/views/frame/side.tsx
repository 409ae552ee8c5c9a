// The picked function: its share, where it is, who calls it, whom it calls. Without one: the hottest. It
// stands at the right, on narrow screens as a sheet at the bottom.
import { type Neighbour } from "../../data/sums/neighbours";
import { shortName } from "../../data/short_name";
import { useAnswer } from "../../state/answer";
import { byUnit, data, functionOfKey, keyOfFunction, look, nameOf, names } from "../../state/live";
import { select, selection, transform } from "../../state/selection";
import { openMenu } from "../../state/page";
import { arrange, isNarrow, room, ROOM_START, sideSize } from "../../state/room";
import type { FunctionTable } from "../../worker/messages";
import { Divider } from "../parts/divider";
import { timeText } from "../parts/cells";
import { grouped, percent } from "../parts/format";
import { later } from "./later";

const WORDS: Record<string, string> = { Folded: "its native code, one frame a run" };
const SHOWN = 12;
const NAME_MOST = 26; // letters

function List({ title, list, whole }: { title: string; list: Neighbour[]; whole: number }) {
  if (!list.length) return null;
  return (
    <>
      <h3>{title}</h3>
      {list.slice(0, SHOWN).map(({ fn, samples, time_ns }) => (
        <button
          class="neighbour"
          title={`${grouped(samples)} samples, ${timeText(time_ns)}`}
          disabled={fn < 0}
          onClick={() => select({ picked: keyOfFunction(fn) })}
        >
          <span class="number">
            {percent(byUnit(samples, time_ns), whole, samples)}
          </span>
          <span class="name" dir="auto" title={fn < 0 ? "" : nameOf(fn)}>
            {fn < 0 ? "(start of the thread)" : shortName(nameOf(fn), NAME_MOST)}
          </span>
        </button>
      ))}
      {list.length > SHOWN && <p class="faint">and {list.length - SHOWN} more</p>}
    </>
  );
}

/** The heaviest functions by what they are themselves. */
function Hottest({ table }: { table: FunctionTable }) {
  const { self } = byUnit(table.samples, table.time_ns);
  const list = Array.from(self.keys())
    .filter((fn) => self[fn] > 0)
    .sort((a, b) => self[b] - self[a])
    .map((fn) => ({ fn, samples: table.samples.self[fn], time_ns: table.time_ns.self[fn] }));
  const whole = byUnit(table.whole.samples, table.whole.time_ns);
  return <List title="Hottest functions, by self" list={list} whole={whole} />;
}

const SIDE_LEAST_PX = 160;
const SHEET_LEAST_PX = 80;

/** Is there room for it, and anything to say? */
const isShown = () =>
  room.value.side && Boolean(data.value?.samples || data.value?.events) && (!isNarrow.value || selection.value.picked || selection.value.event);

export function Side() {
  if (!isShown()) return null;
  const { EventPanel } = later.value;
  const narrow = isNarrow.value;
  const name = narrow ? "sheetHeight" : "sideWidth";
  return (
    <>
      <Divider
        along={narrow ? "y" : "x"}
        grows={-1}
        size={sideSize.value}
        least={narrow ? SHEET_LEAST_PX : SIDE_LEAST_PX}
        most={0.7 * (narrow ? innerHeight : innerWidth)}
        label="Size of the side panel"
        resize={(size) => arrange({ [name]: size })}
        reset={() => arrange({ [name]: ROOM_START[name] })}
      />
      <aside
        id="side"
        tabIndex={-1}
        aria-label="Side panel"
        style={`flex-basis: ${sideSize.value}px`}
      >
        <button
          class="close"
          title="Close the side panel (d)"
          aria-label="Close the side panel"
          onClick={() => arrange({ side: false })}
        >
          ×
        </button>
        {selection.value.event ? EventPanel && <EventPanel Hottest={Hottest} /> : <Picked />}
      </aside>
    </>
  );
}

function Picked() {
  const { picked } = selection.value;
  const fn = data.value ? functionOfKey(picked) : -1; // a group has no function
  const around = useAnswer("neighbours", fn < 0 ? null : { ...look.value, fn });
  const table = useAnswer("functions", look.value);
  if (!picked) return table && <Hottest table={table} />;
  if (fn < 0) return <p class="faint">{picked} is not in this profile.</p>;
  const { name, library, file, line, kind, runtime } = names.functions[fn];
  const owner = names.libraries[library];
  const whole = table ? byUnit(table.whole.samples, table.whole.time_ns) : 0;
  const row = (title: string, samples: number, time_ns: number) => (
    <tr>
      <th>{title}</th>
      <td>{percent(byUnit(samples, time_ns), whole, samples)}</td>
      <td>{grouped(samples)}</td>
      <td>{timeText(time_ns)}</td>
    </tr>
  );
  return (
    <>
      <h2 dir="auto">{name}</h2>
      {table && (
        <table class="numbers">
          {row("self", table.samples.self[fn], table.time_ns.self[fn])}
          {row("total", table.samples.total[fn], table.time_ns.total[fn])}
        </table>
      )}
      <p class="faint" title={owner.path} dir="auto">
        {owner.name}
        {(runtime || kind !== "Native") && ` · ${runtime ?? WORDS[kind] ?? kind}`}
      </p>
      {file && (
        <p dir="auto">
          <button class="link" title="Source (s)" onClick={() => select({ view: "source" })}>
            {file}
            {line > 0 && `:${line}`}
          </button>
        </p>
      )}
      <p>
        <button title="f" onClick={() => transform({ kind: "focus-function", fn: picked })}>
          Focus
        </button>{" "}
        <button title="h" onClick={() => transform({ kind: "drop-function", fn: picked })}>
          Hide
        </button>{" "}
        <button title="m" onClick={() => transform({ kind: "hide-function", fn: picked })}>
          Merge
        </button>{" "}
        <button
          title="More that can be done with it (right click on any frame)"
          aria-label="More"
          onClick={openMenu}
        >
          …
        </button>
      </p>
      <p>
        <button onClick={() => transform({ kind: "focus-library", library: owner.name })}>
          Focus library
        </button>{" "}
        <button onClick={() => transform({ kind: "hide-library", library: owner.name })}>
          Merge library
        </button>
      </p>
      {around && (
        <>
          <List title="Callers" list={around.callers} whole={whole} />
          <List title="Callees" list={around.callees} whole={whole} />
        </>
      )}
    </>
  );
}
