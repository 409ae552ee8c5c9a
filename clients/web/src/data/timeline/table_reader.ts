// Replies of _getTimeline, into a timeline. Each numbers texts and threads itself.
import type { TimelineBlock, TimelineTable } from "../../wire/protocol";
import type { Told, Timeline } from "./timeline";

/** What is open in it takes the place of what was. */
export function addTable(timeline: Timeline, table: TimelineTable): void {
  timeline.missing(table.history);
  const reader = new Reader(timeline, table.kinds);
  for (const block of table.blocks) reader.add(block, false);
  for (const { rows } of timeline.threads) for (const row of rows.values()) row.open = [];
  for (const block of table.open) reader.add(block, true);
  timeline.settle();
}

class Reader {
  #texts: string[] = [];
  #threads: number[] = [];

  constructor(
    private readonly timeline: Timeline,
    private readonly kinds: readonly string[],
  ) {}

  add(block: TimelineBlock, isOpen: boolean): void {
    const { timeline } = this;
    for (const text of block.texts) this.#texts.push(text);
    for (const { pid, tid, name } of block.newThreads) this.#threads.push(timeline.thread(pid, tid, name));
    if (!timeline.length) timeline.origin_us = block.timeOriginMicros;
    const ids = new Map(block.identified.map((at, i) => [at, block.ids[i]]));
    const marks = new Map(block.marked.map((at, i) => [at, block.marks[i]]));
    let start = 1000 * (block.timeOriginMicros - timeline.origin_us);
    for (let i = 0, argument = 0; i < block.kinds.length; i++) {
      start += block.startDeltas[i];
      const given: Told["given"] = [];
      for (; block.argumentEvents[argument] === i; argument++)
        given.push([this.#texts[block.argumentNames[argument]], block.argumentValues[argument]]);
      const one = {
        ...{ start, given, duration: block.durations[i], depth: block.depths[i], id: ids.get(i) ?? "" },
        thread: within("thread", this.#threads, block.threads[i]),
        name: within("text", this.#texts, block.names[i]),
        stream: within("text", this.#texts, block.streams[i]),
      };
      if (isOpen) timeline.stands(one);
      else timeline.tell(this.kinds[block.kinds[i]], one, marks.get(i) ?? "");
    }
  }
}

function within<T>(what: string, list: T[], number: number): T {
  const found = list[number];
  if (found === undefined) throw new Error(`events: there is no ${what} ${number}`);
  return found;
}
