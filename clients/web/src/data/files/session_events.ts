// Blocks of events of a session file (docs/session_format.md), into a timeline.
//
//   EVTS (what comes), EVNT (columns) -> Events
import { Events } from "../timeline/events";
import type { Mark, Told } from "../timeline/timeline";
import { type Json, list, numberOf } from "./json";
import { columnsOf, Numbers } from "./session_columns";

const COLUMNS = 15;
const KINDS =
  "Slice Instant AsyncBegin AsyncInstant AsyncEnd FlowBegin FlowStep FlowEnd Counter Frame".split(" ");
const MARKS: (Mark | "")[] = ["", "Open", "CutOff", "NoBegin"];
const [SLICE, ASYNC_BEGIN, FLOW_END, FRAME] = [0, 2, 7, 9];
enum Type {
  INT,
  UINT,
  DOUBLE,
  TEXT,
}

/** Of a thread's number in the file. */
export type WhoIs = (thread: number) => { pid: number; tid: number; name: string };

/** What is too large for a number is a text. */
const plain = (value: bigint) => (BigInt.asIntN(53, value) === value ? Number(value) : String(value));

/** The texts of a block; number 0 is the empty one. */
function textsOf(lengths: Numbers, content: Uint8Array): string[] {
  const texts = [""];
  const decoder = new TextDecoder();
  const bytes = new Numbers(content);
  while (!lengths.done) texts.push(decoder.decode(bytes.take(lengths.next())));
  bytes.end();
  return texts;
}

function within<T>(what: string, of: readonly T[], number: number): T {
  if (!(number in of)) throw new RangeError(`there is no ${what} ${number}`);
  return of[number];
}

export class SessionEvents {
  readonly events = new Events();
  #origin_ns: bigint | null = null;

  constructor(private readonly whoIs: WhoIs) {}

  /** outline: of EVTS; content: of EVNT. */
  add(outline: Json, content: Uint8Array): void {
    const columns = columnsOf(content, COLUMNS);
    const [lengths, , streams, sources, , names, ends, durations, depths, ids, ...arguments_] = columns.map(
      (column) => new Numbers(column),
    );
    const { timeline } = this.events;
    const texts = textsOf(lengths, columns[1]);
    const text = (number: number) => within("text", texts, number);
    const from = list("sources", outline.sources).map((source) => {
      const { pid, tid, name } = this.whoIs(numberOf("a thread", list("a source", source)[0]));
      return { thread: timeline.thread(pid, tid, name), stream: text(streams.next()) };
    });
    const given = argumentsOf(arguments_, columns.slice(-COLUMNS + 10), text);
    let end = 0; // ns since the first event of the file, as far as whole microseconds go
    let id = 0n;
    columns[4].forEach((what, i) => {
      const [kind, mark] = [what & 15, (what >> 4) & 3];
      if (i) end += ends.signed();
      else end = this.#begin(ends.wide());
      const duration = kind === SLICE || kind === FRAME ? durations.next() : 0;
      const depth = kind === SLICE ? depths.next() : 0;
      const hasId = (kind >= ASYNC_BEGIN && kind <= FLOW_END) || kind === FRAME;
      if (hasId) id = BigInt.asUintN(64, id + ids.wide());
      const one: Told = {
        ...within("source", from, sources.next()),
        ...{ name: text(names.next()), start: end - duration, duration, depth },
        ...{ id: hasId ? id.toString(16) : "", given: what & 128 ? given() : [] },
      };
      timeline.tell(within("kind", KINDS, kind), one, MARKS[mark]);
    });
    for (const column of [streams, sources, names, ends, durations, depths, ids, ...arguments_.slice(0, 2)])
      column.end();
  }

  /** The first end of a block, in nanoseconds, as a time of the timeline. */
  #begin(end_ns: bigint): number {
    const { timeline } = this.events;
    if (this.#origin_ns === null) {
      this.#origin_ns = end_ns - (end_ns % 1000n);
      timeline.origin_us = Number(this.#origin_ns / 1000n);
    }
    return Number(end_ns - this.#origin_ns);
  }
}

/** Of each event that has some, one after another. */
function argumentsOf([counts, names, , values]: Numbers[], columns: Uint8Array[], text: (number: number) => string) {
  const types = columns[2];
  const doubles = new DataView(columns[4].buffer, columns[4].byteOffset, columns[4].byteLength);
  let [next, double] = [0, 0];
  const value = (type: number) => {
    if (type === Type.DOUBLE) return doubles.getFloat64(8 * double++, true);
    if (type === Type.TEXT) return text(values.next());
    if (type === Type.INT) return plain(values.wide());
    if (type === Type.UINT) return plain(values.unsigned());
    throw new RangeError(`an argument of type ${type}`);
  };
  return () => Array.from({ length: counts.next() }, (): Told["given"][number] => [text(names.next()), value(types[next++])]);
}
