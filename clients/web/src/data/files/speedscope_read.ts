// Reads speedscope's JSON, also other writers': sampled and evented profiles, all units of time, and plain
// counts, whose samples have no CPU time.
import type { Profile } from "../profile";
import { BadFile, Builder } from "./builder";
import { type Json, list, numberOf, record, textOf } from "./json";

const UNIT_US: Record<string, number> = {
  nanoseconds: 1e-3,
  microseconds: 1,
  milliseconds: 1e3,
  seconds: 1e6,
};
const LABEL = /^(.*) \(pid (\d+), tid (\d+)\)$/s;

interface Span {
  end: number;
  weight: number;
  stack: number[]; // frames, outermost first
}

export function isSpeedscope(value: Json): boolean {
  return "shared" in value && "profiles" in value;
}

export function readSpeedscope(value: Json): Profile {
  const builder = new Builder();
  const places = list("shared.frames", record("shared", value.shared).frames).map((frame, i) =>
    builder.place(readFrame(builder, record(`frame ${i}`, frame))),
  );
  const ours = (value._isoscope ?? {}) as Json;
  list("profiles", value.profiles).forEach((one, i) =>
    readThread(builder, places, record(`profile ${i}`, one), i),
  );
  for (const [pid, name] of Object.entries((ours.processes ?? {}) as Json))
    builder.profile.processNames.set(Number(pid), textOf(name));
  builder.profile.period_us = Number(ours.period) || 0;
  if (!builder.profile.period_us) builder.middlePeriod();
  return builder.profile;
}

function readFrame(builder: Builder, frame: Json): number {
  const [file, line] = [textOf(frame.file), numberOf("line", frame.line ?? 0)];
  const name = textOf(frame.name);
  // A file without a line is the library, as we write it.
  return file && !line
    ? builder.fn({ name, library: builder.library(file) })
    : builder.fn({ name, file, line });
}

function readThread(builder: Builder, places: number[], one: Json, number: number): void {
  const label = textOf(one.name) || `profile ${number + 1}`;
  const ours = LABEL.exec(label);
  const thread = ours
    ? builder.profile.thread(Number(ours[2]), Number(ours[3]), ours[1])
    : builder.profile.thread(0, number + 1, label);
  const unit = textOf(one.unit);
  const factor = UNIT_US[unit];
  if (unit !== "none" && !factor)
    throw new BadFile(
      `speedscope profile in ${unit || "no unit"}: only times and counts can be read`,
    );
  const cpu = one._cpuMicros ? list("_cpuMicros", one._cpuMicros) : null;
  const states = list("_states", one._states ?? []);
  let at = -1;
  for (const { end, weight, stack } of one.type === "evented" ? evented(one) : sampled(one)) {
    at++;
    if (!stack.length) continue;
    let node = 0;
    for (const frame of stack) {
      if (places[frame] === undefined) throw new BadFile(`there is no frame ${frame}`);
      node = builder.profile.stack(node, places[frame]);
    }
    if (unit === "none") builder.addMany(weight, { stack: node, thread });
    else {
      // Ours of wall mode: widths are periods.
      const cpu_ns = 1000 * (cpu ? numberOf("CPU time", cpu[at]) : weight * factor);
      const state = textOf(states[at]);
      builder.add({ stack: node, thread, time_us: end * factor, cpu_ns, state });
    }
  }
}

function* sampled(one: Json): Generator<Span> {
  const samples = list("samples", one.samples);
  const weights = list("weights", one.weights);
  if (samples.length !== weights.length)
    throw new BadFile(
      `speedscope profile of ${samples.length} samples and ${weights.length} weights`,
    );
  let end = numberOf("startValue", one.startValue ?? 0);
  for (let i = 0; i < samples.length; i++) {
    const weight = numberOf("weight", weights[i]);
    end += weight;
    yield { end, weight, stack: list("sample", samples[i]) as number[] };
  }
}

function* evented(one: Json): Generator<Span> {
  const stack: number[] = [];
  let last = numberOf("startValue", one.startValue ?? 0);
  for (const entry of list("events", one.events)) {
    const event = record("event", entry);
    const at = numberOf("at", event.at);
    const frame = numberOf("frame", event.frame);
    if (at > last) {
      yield { end: at, weight: at - last, stack };
      last = at;
    }
    if (event.type === "O") stack.push(frame);
    else if (stack.pop() !== frame)
      throw new BadFile(`invalid speedscope profile: frame ${frame} closes, and is not open`);
  }
}
