// The source of the picked function, and what each of its lines weighs. Without the text: the lines
// that are known to be on a stack.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Lines } from "../../data/sums/lines";
import { useAnswer } from "../../state/answer";
import { backend, byUnit, data, files, functionOfKey, link, look, names, problem, unitWord } from "../../state/live";
import { select, selection } from "../../state/selection";
import { copyTable } from "../parts/aligned";
import { Assembly } from "./assembly";
import { Share, Weight, weightText } from "../parts/cells";
import { Empty } from "../parts/empty";
import { percent } from "../parts/format";
import { ROW_PX, useRowsInSight } from "../parts/rows_in_sight";

/** The text by lines. undefined: it is on its way; null: the service does not give it. */
function useText(file: string): string[] | null | undefined {
  const [texts, setTexts] = useState<ReadonlyMap<string, string[] | null>>(new Map());
  const linked = link.value.state === "open";
  useEffect(() => {
    if (!file || !linked || texts.get(file)) return;
    const keep = (text: string | null) =>
      setTexts((before) => new Map(before).set(file, text === null ? null : text.split(/\r?\n/)));
    backend()
      .ask("source", { file })
      .then(keep, (error: Error) => {
        problem.value = `source: ${error.message}`;
        keep(null);
      });
  }, [file, linked]);
  return file ? texts.get(file) : undefined;
}

export function Source() {
  const { picked, source, assembly } = selection.value;
  const fn = data.value ? functionOfKey(picked) : -1;
  const file = source.of === picked ? source.file : "";
  const lines = useAnswer("lines", { ...look.value, fn, file });
  const text = useText(lines?.file ?? "");
  if (!lines) return null;
  if (!lines.whole.samples) return <Empty />;
  return (
    <div class="stacked">
      <div class="bar-of-view">
        <select
          aria-label="File"
          value={lines.file}
          onChange={({ currentTarget }) => 
            select({ source: { of: picked, file: currentTarget.value } })
          }
        >
          {!lines.files.some((one) => one.file === lines.file) && (
            <option value={lines.file}>{lines.file || "no file is known"}</option>
          )}
          {lines.files.map((one) => (
            <option value={one.file}>
              {one.file} · {percent(one.samples, lines.whole.samples, one.samples)} self
            </option>
          ))}
        </select>
        <button
          aria-pressed={assembly}
          title="The machine code of the picked function"
          onClick={() => select({ assembly: !assembly })}
        >
          Assembly
        </button>
        {lines.file && link.value.state !== "open" && !text && (
          <span class="faint">
            {files.value.shown
              ? "No text: the profile's file has none of this source."
              : "No text: no service is connected that could read the file."}
          </span>
        )}
        {lines.file && link.value.state === "open" && text === null && (
          <span class="faint">
            No text: the service gives that of files below --source-root DIR only.
          </span>
        )}
      </div>
      <div class="rest beside">
        {lines.file ? (
          <div>
            <Text key={lines.file} lines={lines} text={text ?? null} picked={fn} />
          </div>
        ) : (
          !assembly && <NoLines fn={fn} />
        )}
        {assembly && (
          <div>
            <Assembly key={picked} fn={fn} />
          </div>
        )}
      </div>
    </div>
  );
}

function NoLines({ fn }: { fn: number }) {
  const one = names.functions[fn];
  if (!one)
    return (
      <p class="empty">
        No lines are known here: there is no debug data, nor a debug package.
      </p>
    );
  return (
    <p class="empty" dir="auto">
      No line of {one.name} is known: {names.libraries[one.library].name} was built without debug
      data (-g), and no debug package of it is installed.
    </p>
  );
}

interface Row {
  line: number;
  at: number; // index of lines; -1: it has no weight
  text: string;
}

function rowsOf(lines: Lines, text: string[] | null): Row[] {
  const known = Array.from(lines.lines, (line, at) => ({ line, at, text: text?.[line - 1] ?? "" }));
  if (!text) return known;
  const at = new Map(known.map((row) => [row.line, row.at]));
  const rows = text.map((one, i) => ({ line: i + 1, at: at.get(i + 1) ?? -1, text: one }));
  // A file that is shorter now than when it was compiled.
  return [...rows, ...known.filter(({ line }) => line > text.length)];
}

/** What to show first: the hottest line that has text, as far as that is known. */
function firstShown({ hottest }: Lines, rows: Row[], text: string[] | null): number {
  const wanted = hottest.find((line) => !text || Boolean(text[line - 1]?.trim())) ?? hottest[0];
  return rows.findIndex(({ line }) => line === wanted);
}

function Text({ lines, text, picked }: { lines: Lines; text: string[] | null; picked: number }) {
  const rows = useMemo(() => rowsOf(lines, text), [lines, text]);
  const sight = useRowsInSight(rows.length);
  const [current, setCurrent] = useState(-1);
  const self = byUnit(lines.self, lines.selfTime_ns);
  const total = byUnit(lines.total, lines.totalTime_ns);
  const whole = byUnit(lines.whole.samples, lines.whole.time_ns);
  const heaviest = self.reduce((a, b) => Math.max(a, b), 0) || 1;
  useEffect(() => {
    const at = firstShown(lines, rows, text);
    if (at < 0) return;
    setCurrent(at);
    sight.centre(at);
  }, [picked, text === null]);
  const go = (next: number) => {
    setCurrent(next);
    sight.reveal(next);
  };
  const copied = () =>
    rows.map(({ line, at, text: words }) => [
      at < 0 ? "" : weightText(total[at]),
      at < 0 ? "" : weightText(self[at]),
      String(line),
      words,
    ]);
  return (
    <div class="table source">
      <div class="head" aria-hidden="true">
        <span class="share">total</span>
        <span class="share">self</span>
        <span class="number">{unitWord.value}</span>
        <span class="line">line</span>
      </div>
      <div
        class="body"
        ref={sight.body}
        tabIndex={0}
        role="list"
        aria-label={`Lines of ${lines.file}`}
        onKeyDown={(event) => sight.onKey(event, current, go)}
        onScroll={sight.onScroll}
        onCopy={(event) => copyTable(event, copied)}
      >
        <div style={{ height: `${rows.length * ROW_PX}px` }}>
          {rows.slice(sight.first, sight.last).map(({ line, at, text: words }, i) => (
            <div
              key={line}
              class={sight.first + i === current ? "row current" : "row"}
              role="listitem"
              style={{
                top: `${(sight.first + i) * ROW_PX}px`,
                "--heat": at < 0 ? "0%" : `${Math.round((60 * self[at]) / heaviest)}%`,
              }}
              onClick={() => setCurrent(sight.first + i)}
            >
              <Share part={at < 0 ? 0 : total[at]} whole={whole} samples={lines.total[at] ?? 0} />
              <Share part={at < 0 ? 0 : self[at]} whole={whole} samples={lines.self[at] ?? 0} />
              <Weight weight={at < 0 ? 0 : total[at]} />
              <span class="line">{line}</span>
              <code>{words}</code>
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
