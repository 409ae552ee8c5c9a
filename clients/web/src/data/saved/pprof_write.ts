// pprof's profile.proto, not yet zipped: what `go tool pprof` reads.
//
// Samples of one stack, thread, tag and state are one entry with their number and their CPU time;
// of another kind with its objects and weights.
// Inlined frames are further lines of their location. Lost: the time of each sample.
import { FloatColumn, PairIndex } from "../columns";
import { KINDS } from "../kinds";
import type { Profile } from "../profile";
import { type Chosen, libraryPath, placesOf, spanOf } from "../files/chosen";
import {
  FUNCTION,
  LABEL,
  LINE,
  LOCATION,
  MAPPING,
  PROFILE,
  SAMPLE,
  VALUE_TYPE,
} from "../files/pprof_fields";
import { Message } from "../files/protobuf";

export function writePprof(chosen: Chosen): Uint8Array<ArrayBuffer> {
  return new Writer(chosen).message();
}

class Writer {
  #texts = new Map<string, number>([["", 0]]);
  #mappings = new Map<string, number>();
  #functions = new Map<number, number>();
  #locations = new Map<string, number>(); // places, innermost first
  #stacks = new Map<number, number[]>(); // of a stack node: locations, leaf first
  #tables = new Message();

  constructor(private readonly chosen: Chosen) {}

  message(): Uint8Array<ArrayBuffer> {
    const { chosen } = this;
    const { first_us, last_us } = spanOf(chosen);
    const file = new Message();
    const [objects, weights, unit] = KINDS[chosen.profile.kind].pprof;
    const cpu = this.#valueType(weights, unit);
    this.#mapping(programOf(chosen.profile)); // pprof takes the first one for the program's
    file
      .data(PROFILE.sampleType, this.#valueType(objects, "count"))
      .data(PROFILE.sampleType, cpu);
    this.#samples(file);
    file
      .number(PROFILE.duration_ns, Math.round((last_us - first_us) * 1000))
      .data(PROFILE.periodType, cpu)
      .number(PROFILE.period, chosen.profile.kind === "time" ? chosen.profile.period_us * 1000 : 0)
      .number(PROFILE.defaultType, this.#text(weights));
    const encoder = new TextEncoder();
    for (const text of this.#texts.keys()) file.data(PROFILE.string, encoder.encode(text));
    // Messages that follow each other are one.
    const [head, tables] = [file.bytes(), this.#tables.bytes()];
    const whole = new Uint8Array(head.length + tables.length);
    whole.set(head);
    whole.set(tables, head.length);
    return whole;
  }

  #text(text: string): number {
    let number = this.#texts.get(text);
    if (number === undefined) this.#texts.set(text, (number = this.#texts.size));
    return number;
  }

  #valueType(type: string, unit: string): Uint8Array {
    const message = new Message();
    return message
      .number(VALUE_TYPE.type, this.#text(type))
      .number(VALUE_TYPE.unit, this.#text(unit))
      .bytes();
  }

  #samples(file: Message): void {
    const { profile, places } = this.chosen;
    const { stack, thread, tag, state, whole, cpu_ns, objects } = profile.samples;
    // Thread, tag, state and whole are one kind; stack and kind one entry.
    const owners = new PairIndex();
    const kinds = new PairIndex();
    const entries = new PairIndex();
    const counts = new FloatColumn();
    const times: number[] = [];
    for (const i of places) {
      const owner = owners.intern(thread.data[i], tag.data[i]);
      const kind = kinds.intern(owner, 2 * state.data[i] + whole.data[i]);
      const entry = entries.intern(stack.data[i], kind);
      if (entry === counts.length) {
        counts.push(0);
        times.push(0);
      }
      counts.data[entry] += objects.length ? objects.data[i] : 1;
      times[entry] += cpu_ns.data[i];
    }
    for (let entry = 0; entry < entries.length; entry++) {
      const kind = entries.b.data[entry];
      const owner = kinds.a.data[kind];
      const { pid, tid, name } = profile.threads[owners.a.data[owner]];
      const message = new Message();
      message
        .packed(SAMPLE.location, this.#stack(entries.a.data[entry]))
        .packed(SAMPLE.value, [Math.round(counts.data[entry]), Math.round(times[entry])]);
      this.#label(message, "thread", name);
      this.#label(message, "tid", "", tid);
      this.#label(message, "process", profile.processNames.get(pid) ?? "");
      this.#label(message, "pid", "", pid);
      this.#label(message, "tag", profile.tags.texts[owners.b.data[owner]]);
      this.#label(message, "state", profile.states.texts[kinds.b.data[kind] >> 1]);
      this.#label(message, "stack", kinds.b.data[kind] & 1 ? "" : "cut");
      file.data(PROFILE.sample, message.bytes());
    }
  }

  #label(sample: Message, key: string, text: string, number = 0): void {
    if (!text && !number) return;
    const message = new Message();
    message
      .number(LABEL.key, this.#text(key))
      .number(LABEL.text, this.#text(text))
      .number(LABEL.number, number);
    sample.data(SAMPLE.label, message.bytes());
  }

  #stack(node: number): number[] {
    const known = this.#stacks.get(node);
    if (known) return known;
    const { profile } = this.chosen;
    const stack: number[] = [];
    let location: number[] = [];
    const places = placesOf(profile, node);
    places.forEach((place, i) => {
      location.push(place);
      if (profile.isInlined(place) && i + 1 < places.length) return; // the next one holds it
      stack.push(this.#location(location));
      location = [];
    });
    this.#stacks.set(node, stack);
    return stack;
  }

  #location(places: number[]): number {
    const key = places.join();
    let number = this.#locations.get(key);
    if (number !== undefined) return number;
    this.#locations.set(key, (number = this.#locations.size + 1));
    const { profile } = this.chosen;
    const outer = profile.functionAt(places[places.length - 1]);
    const message = new Message()
      .number(LOCATION.id, number)
      .number(LOCATION.mapping, this.#mapping(libraryPath(profile, outer)));
    for (const place of places) {
      const line = new Message()
        .number(LINE.function, this.#function(profile.functionAt(place)))
        .number(LINE.line, profile.linePlace(place).line);
      message.data(LOCATION.line, line.bytes());
    }
    this.#tables.data(PROFILE.location, message.bytes());
    return number;
  }

  #function(fn: number): number {
    let number = this.#functions.get(fn);
    if (number !== undefined) return number;
    this.#functions.set(fn, (number = this.#functions.size + 1));
    const { name, file, line } = this.chosen.profile.functions[fn];
    const message = new Message()
      .number(FUNCTION.id, number)
      .number(FUNCTION.name, this.#text(name))
      .number(FUNCTION.systemName, this.#text(name))
      .number(FUNCTION.file, this.#text(file))
      .number(FUNCTION.line, line);
    this.#tables.data(PROFILE.function, message.bytes());
    return number;
  }

  /** 0: none. */
  #mapping(path: string): number {
    if (!path) return 0;
    let number = this.#mappings.get(path);
    if (number !== undefined) return number;
    this.#mappings.set(path, (number = this.#mappings.size + 1));
    const message = new Message().number(MAPPING.id, number).number(MAPPING.file, this.#text(path));
    for (const field of MAPPING.has) message.number(field, 1); // nothing is left to look up
    this.#tables.data(PROFILE.mapping, message.bytes());
    return number;
  }
}

/** The path of a process' own library; "": none of them was on a stack. */
function programOf({ libraries, processNames }: Profile): string {
  const names = new Set(processNames.values());
  const own = libraries.find(({ name }) => names.has(name));
  return own ? own.path || own.name : "";
}
