// Replies of _getTimeline in words, for the tests of what is made of them.
import type { TimelineBlock, TimelineTable } from "../../clients/web/src/wire/protocol";

export const KINDS =
  "Slice Instant AsyncBegin AsyncInstant AsyncEnd FlowBegin FlowStep FlowEnd Counter Frame".split(" ");

export interface ToldEvent {
  kind?: string; // Slice
  name: string;
  at: number; // ns since 5000 us
  ns?: number;
  tid?: number;
  thread?: string;
  stream?: string;
  depth?: number;
  id?: string;
  mark?: TimelineBlock["marks"][number];
  given?: Record<string, number | string>;
}

/** Numbers texts and threads for one reply, as the service does. */
class Numbers {
  texts = new Map<string, number>();
  threads = new Map<number, number>();

  block(events: ToldEvent[]): TimelineBlock {
    const block: TimelineBlock = {
      ...{ timeOriginMicros: 5000, texts: [], newThreads: [], kinds: [], threads: [], names: [], streams: [] },
      ...{ startDeltas: [], durations: [], depths: [], marked: [], marks: [], identified: [], ids: [] },
      ...{ argumentEvents: [], argumentNames: [], argumentValues: [] },
    };
    const text = (one: string) => {
      if (!this.texts.has(one)) this.texts.set(one, this.texts.size) && block.texts.push(one);
      return this.texts.get(one)!;
    };
    let before = 0;
    events.forEach(({ tid = 7, thread = "main", kind = "Slice", stream = "App", depth = 0, ...one }, i) => {
      if (!this.threads.has(tid)) {
        this.threads.set(tid, this.threads.size);
        block.newThreads.push({ isolateId: "isolates/7", pid: 7, tid, name: thread });
      }
      block.kinds.push(KINDS.indexOf(kind));
      block.threads.push(this.threads.get(tid)!);
      block.names.push(text(one.name));
      block.streams.push(text(stream));
      block.startDeltas.push(one.at - before);
      before = one.at;
      block.durations.push(one.ns ?? 0);
      block.depths.push(depth);
      if (one.mark) block.marked.push(i) && block.marks.push(one.mark);
      if (one.id) block.identified.push(i) && block.ids.push(one.id);
      for (const [name, value] of Object.entries(one.given ?? {})) {
        block.argumentEvents.push(i);
        block.argumentNames.push(text(name));
        block.argumentValues.push(value);
      }
    });
    return block;
  }
}

export function tableOf(events: ToldEvent[], open: ToldEvent[] = []): TimelineTable {
  const numbers = new Numbers();
  const history = { bytes: 0, bytesMax: 0, events: events.length, evicted: 0, lost: 0, unmatched: 0, unstored: 0, cutOff: 0, tooDeep: 0, backward: 0 };
  return {
    ...{ type: "_TimelineTable", kinds: KINDS, history, next: "1", blocks: [numbers.block(events)] },
    ...{ open: open.length ? [numbers.block(open)] : [], eventCount: events.length, openCount: open.length },
  };
}
