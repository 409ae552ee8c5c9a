// All that is known of one event.
import type { Value } from "./arguments";
import { framesPerSecond } from "./frames";
import type { Mark, Timeline } from "./timeline";
import { firstThat } from "./track";

export interface EventDetails {
  name: string;
  stream: string;
  pid: number;
  tid: number;
  thread: string;
  start_us: number;
  duration: number; // ns
  kind: "slice" | "instant" | "frame";
  mark: Mark | "";
  number: number; // of a frame
  perSecond: number; // frames, up to this one
  given: [name: string, value: Value][]; // arguments
}

/** key: as eventKey makes it. null: there is no such event, or no more. */
export function eventOf(timeline: Timeline, key: string): EventDetails | null {
  const [pid, tid, place, text] = key.split("/");
  const number = timeline.threads.findIndex((one) => `${one.pid}/${one.tid}` === `${pid}/${tid}`);
  if (number < 0) return null;
  const thread = timeline.threads[number];
  const time = Math.round(1000 * (Number(text) - timeline.origin_us));
  const isAt = (start: number) => Math.abs(start - time) < 1;
  const kind = place === "i" ? "instant" : place[0] === "f" ? "frame" : "slice";
  const one = (label: number, start: number, duration: number) => ({
    ...{ name: timeline.nameOf(label), stream: timeline.streamOf(label), kind, mark: "" as Mark | "", number: 0, perSecond: 0 },
    ...{ pid: thread.pid, tid: thread.tid, thread: thread.name, start_us: timeline.origin_us + start / 1000, duration },
  }) satisfies Omit<EventDetails, "given">;
  const row = thread.rows.get(place);
  const track = row?.track;
  const at = track ? firstThat(track.length, (i) => track.start.data[i] > time - 1) : 0;
  if (track && at < track.length && isAt(track.start.data[at])) {
    const serial = track.serial.data[at];
    return {
      ...one(track.label.data[at], track.start.data[at], track.duration.data[at]),
      mark: timeline.marks.get(serial) ?? "",
      number: timeline.numbers.get(serial) ?? 0,
      perSecond: kind === "frame" ? framesPerSecond(track, at) : 0,
      given: timeline.arguments.of(serial),
    };
  }
  const open = [...(row?.open ?? []), ...(place[0] === "o" ? timeline.openHalves(number) : [])];
  const found = open.find(({ start }) => isAt(start));
  if (!found) return null;
  return { ...one(found.label, found.start, found.duration), mark: "Open", given: found.given };
}

