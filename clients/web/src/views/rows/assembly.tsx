// The instructions of the picked function, and what each of them weighs.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Pcs } from "../../data/sums/pcs";
import { useAnswer } from "../../state/answer";
import { backend, byUnit, link, look, names, unitWord } from "../../state/live";
import type { Code } from "../../wire/code";
import type { Instruction } from "../../wire/protocol";
import { copyTable } from "../parts/aligned";
import { Share, Weight, weightText } from "../parts/cells";
import { ROW_PX, useRowsInSight } from "../parts/rows_in_sight";

/** null: it is on its way. */
function useCode(fn: number): Code | null {
  const [code, setCode] = useState<Code | null>(null);
  const linked = link.value.state === "open";
  useEffect(() => {
    if (fn < 0 || (code && !code.reason)) return;
    let isWanted = true;
    const keep = (one: Code) => isWanted && setCode(one);
    backend()
      .ask("code", { fn })
      .then(keep, ({ message }: Error) => keep({ instructions: [], bias: 0, reason: message }));
    return () => {
      isWanted = false;
    };
  }, [fn, linked]);
  return code;
}

const sizeOf = ({ bytes }: Instruction) => bytes.length / 2;

/** Where the code lies: parts of a function may be far from each other. */
export function rangesOf(code: readonly Instruction[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const one of code) {
    const last = ranges.at(-1);
    const end = one.offset + sizeOf(one);
    if (last?.[1] === one.offset) last[1] = end;
    else ranges.push([one.offset, end]);
  }
  return ranges;
}

interface Row {
  self: number; // in the used unit
  total: number;
  samples: number;
}

/** A caller's pc is the last byte of its call. */
function weighed(code: readonly Instruction[], pcs: Pcs): Row[] {
  const [self, total] = [byUnit(pcs.self, pcs.selfTime_ns), byUnit(pcs.total, pcs.totalTime_ns)];
  const rows = code.map(() => ({ self: 0, total: 0, samples: 0 }));
  const rowAt = new Map(
    code.flatMap((one, i) => [
      [one.offset, rows[i]],
      [one.offset + sizeOf(one) - 1, rows[i]],
    ]),
  );
  pcs.pcs.forEach((pc, i) => {
    const row = rowAt.get(pc);
    if (!row) return;
    row.self += self[i];
    row.total += total[i];
    row.samples += pcs.total[i];
  });
  return rows;
}

export function Assembly({ fn }: { fn: number }) {
  const code = useCode(fn);
  if (fn < 0) return <p class="empty">Pick a function: its instructions stand here then.</p>;
  if (!code) return <p class="empty">The code is being read.</p>;
  if (!code.reason) return <Listing code={code} fn={fn} />;
  return (
    <p class="empty" dir="auto">
      {names.functions[fn]?.name} cannot be disassembled: {code.reason}.
    </p>
  );
}

const textOf = ({ mnemonic, operands = "", called }: Instruction) =>
  `${mnemonic} ${operands}${called ? `  <${called}>` : ""}`.trim();

function tipOf(one: Instruction, bias: number): string {
  const place = one.line ? `${one.file}:${one.line}` : "no line is known";
  const address = bias ? `\naddress 0x${(one.offset + bias).toString(16)}` : "";
  return `${textOf(one)}\n${place}${one.function ? `\ninlined: ${one.function}` : ""}${address}\n${one.bytes}`;
}

function Listing({ code, fn }: { code: Code; fn: number }) {
  const ranges = useMemo(() => rangesOf(code.instructions), [code]);
  const pcs = useAnswer("pcs", { ...look.value, fn, ranges });
  return pcs && <Rows code={code} fn={fn} pcs={pcs} />;
}

function Rows({ code, fn, pcs }: { code: Code; fn: number; pcs: Pcs }) {
  const { instructions, bias } = code;
  const unit = unitWord.value;
  const rows = useMemo(() => weighed(instructions, pcs), [code, pcs, unit]);
  const placeOf = useMemo(() => new Map(instructions.map((one, i) => [one.offset, i])), [code]);
  const sight = useRowsInSight(instructions.length);
  const [target, setTarget] = useState(-1);
  const heaviest = rows.reduce((best, row, i) => (row.self > rows[best].self ? i : best), 0);
  const [current, setCurrent] = useState(heaviest);
  useEffect(() => sight.centre(heaviest), []);
  const whole = byUnit(pcs.whole.samples, pcs.whole.time_ns);
  const most = rows[heaviest]?.self || 1;
  const go = (next: number) => {
    setCurrent(next);
    sight.reveal(next);
  };
  const copied = () =>
    instructions.map((one, i) => [
      rows[i].total ? weightText(rows[i].total) : "",
      rows[i].self ? weightText(rows[i].self) : "",
      one.offset.toString(16),
      textOf(one),
    ]);
  return (
    <div class="table source">
      <div class="head" aria-hidden="true">
        <span class="share">total</span>
        <span class="share">self</span>
        <span class="number">{unit}</span>
        <span class="line offset">offset</span>
      </div>
      <div
        class="body"
        ref={sight.body}
        tabIndex={0}
        role="list"
        aria-label={`Instructions of ${names.functions[fn]?.name}`}
        onKeyDown={(event) => sight.onKey(event, current, go)}
        onScroll={sight.onScroll}
        onCopy={(event) => copyTable(event, copied)}
      >
        <div style={{ height: `${instructions.length * ROW_PX}px` }}>
          {instructions.slice(sight.first, sight.last).map((one, i) => {
            const at = sight.first + i;
            const leads = placeOf.get(one.target ?? -1) ?? -1;
            const mark = (at === current ? " current" : "") + (at === target ? " target" : "");
            return (
              <div
                key={one.offset}
                class={`row${mark}`}
                role="listitem"
                title={tipOf(one, bias)}
                style={{
                  top: `${at * ROW_PX}px`,
                  "--heat": `${Math.round((60 * rows[at].self) / most)}%`,
                }}
                onPointerEnter={() => setTarget(leads)}
                onPointerLeave={() => setTarget(-1)}
                onClick={() => setCurrent(at)}
                onDblClick={() => leads >= 0 && go(leads)}
              >
                <Share part={rows[at].total} whole={whole} samples={rows[at].samples} />
                <Share part={rows[at].self} whole={whole} samples={rows[at].samples} />
                <Weight weight={rows[at].total} />
                <span class="line offset">{one.offset.toString(16)}</span>
                <code>{textOf(one)}</code>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
