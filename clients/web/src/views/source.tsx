// The source of the picked function, and what each of its lines weighs. Without the text: the lines
// that are known to be on a stack.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Lines } from "../data/lines";
import { useAnswer } from "../state/answer";
import { backend, data, functionOfKey, link, look, names, problem } from "../state/live";
import { select, selection } from "../state/selection";
import { copyTable } from "./aligned";
import { Share, Weight, weightText } from "./cells";
import { Empty } from "./empty";
import { percent } from "./format";
import { ROW_PX, useRowsInSight } from "./rows_in_sight";

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
  const { picked, source } = selection.value;
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
        {lines.file && text === null && (
          <span class="faint">
            The service does not give this file's text: isoscope run --source-root DIR lets it, for
            files below DIR.
          </span>
        )}
      </div>
      <div class="rest">
        {lines.file ? (
          <Text key={lines.file} lines={lines} text={text ?? null} picked={fn} />
        ) : (
          <NoLines fn={fn} />
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
        No line is known of any function here: the modules were built without debug data, and no
        debug packages of them are installed.
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

/** What to show first: where the picked function begins, else the line where most is spent. */
function firstShown(lines: Lines, rows: Row[], fn: number): number {
  const { file, line: begin } = names.functions[fn] ?? { file: "", line: 0 };
  if (begin && file === lines.file) return rows.findIndex(({ line }) => line >= begin);
  const known = rows.filter(({ at }) => at >= 0);
  const heaviest = known.sort((a, b) => lines.self[b.at] - lines.self[a.at])[0];
  return heaviest ? rows.indexOf(heaviest) : -1;
}

function Text({ lines, text, picked }: { lines: Lines; text: string[] | null; picked: number }) {
  const { unit } = selection.value;
  const rows = useMemo(() => rowsOf(lines, text), [lines, text]);
  const sight = useRowsInSight(rows.length);
  const [current, setCurrent] = useState(-1);
  const [self, total] =
    unit === "samples" ? [lines.self, lines.total] : [lines.selfTime_ns, lines.totalTime_ns];
  const whole = unit === "samples" ? lines.whole.samples : lines.whole.time_ns;
  const heaviest = self.reduce((a, b) => Math.max(a, b), 0) || 1;
  useEffect(() => {
    const at = firstShown(lines, rows, picked);
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
      at < 0 ? "" : weightText(total[at], unit),
      at < 0 ? "" : weightText(self[at], unit),
      String(line),
      words,
    ]);
  return (
    <div class="table source">
      <div class="head" aria-hidden="true">
        <span class="share">total</span>
        <span class="share">self</span>
        <span class="number">{unit}</span>
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
              <Weight weight={at < 0 ? 0 : total[at]} unit={unit} />
              <span class="line">{line}</span>
              <code>{words}</code>
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
