// Reads CpuSamples: replies of `_getCpuSamples`, list form or table form, and of getCpuSamples, also a Dart
// VM's. There stacks are numbers in a table of functions, and nothing tells lines or CPU time.
import type { SamplesTable } from "../../wire/protocol";
import type { Profile } from "../profile";
import { TableReader } from "../table_form";
import { BadFile, Builder } from "./builder";
import { type Json, list, numberOf, record, textOf } from "./json";

export function isCpuSamples(value: Json): boolean {
  return value.type === "CpuSamples" || value.type === "_CpuSamplesTable";
}

export function readCpuSamples(value: Json): Profile {
  if (value.type === "_CpuSamplesTable") return readTable(value);
  const builder = new Builder();
  builder.profile.period_us = numberOf("samplePeriod", value.samplePeriod ?? 0);
  const functions = list("functions", value.functions).map((one, i) =>
    record(`function ${i}`, one),
  );
  const isPublic = functions.some((one) => "function" in one);
  const stackOf = isPublic
    ? publicStacks(builder, functions)
    : listStacks(builder, functions, value);
  const pid = Number(value.pid) || 0;
  const names = readNames(builder, value);
  list("samples", value.samples).forEach((one, i) => {
    const sample = record(`sample ${i}`, one);
    const stack = stackOf(list("stack", sample.stack));
    if (!stack) return;
    const owner = pidOf(sample.isolateId) ?? pid;
    const tid = numberOf("tid", sample.tid);
    builder.add({
      stack,
      thread: builder.profile.thread(owner, tid, names.get(`${owner}/${tid}`) ?? `thread ${tid}`),
      time_us: numberOf("timestamp", sample.timestamp),
      cpu_ns: numberOf("cpuNanos", sample.cpuNanos ?? 1000 * builder.profile.period_us),
      tag: textOf(sample.userTag),
      state: textOf(sample.vmTag),
      whole: sample.truncated !== true,
    });
  });
  return builder.profile;
}

function pidOf(isolateId: unknown): number | undefined {
  const number = /\d+/.exec(textOf(isolateId));
  return number ? Number(number[0]) : undefined;
}

/** What `export` writes besides. Names of threads by process and tid. */
function readNames(builder: Builder, value: Json): Map<string, string> {
  for (const one of list("_processes", value._processes ?? [])) {
    const { isolateId, name } = record("process", one);
    builder.profile.processNames.set(pidOf(isolateId) ?? 0, textOf(name));
  }
  const threads = list("_threads", value._threads ?? []).map((one) => record("thread", one));
  return new Map(
    threads.map(({ isolateId, tid, name }) => [`${pidOf(isolateId)}/${tid}`, textOf(name)]),
  );
}

function readTable(value: Json): Profile {
  const reader = new TableReader();
  try {
    reader.add({ ...value, reset: false } as unknown as SamplesTable);
  } catch (error) {
    throw new BadFile(`incomplete table of samples: ${(error as Error).message}`);
  }
  return reader.profile;
}

type StackOf = (stack: unknown[]) => number;

function listStacks(builder: Builder, functions: Json[], value: Json): StackOf {
  const libraries = new Map<unknown, number>();
  for (const [i, one] of list("libraries", value.libraries ?? []).entries()) {
    const { id, path, name, system, runs } = record(`library ${i}`, one);
    const told = [textOf(path), textOf(name), system === true || undefined] as const;
    libraries.set(id, builder.library(...told, textOf(runs) || undefined));
  }
  const numbers = new Map<unknown, number>();
  for (const one of functions) {
    const library = libraries.get(record("owner", one.owner).id);
    const line = numberOf("line", one.line ?? 0);
    const told = {
      name: textOf(one.name),
      library,
      file: textOf(one.file),
      line,
      kind: textOf(one.kind),
      runtime: textOf(one.runtime) || undefined,
    };
    numbers.set(one.id, builder.fn(told));
  }
  return (stack) => {
    let node = 0;
    for (let i = stack.length - 1; i >= 0; i--) {
      const frame = record("frame", stack[i]);
      const { id } = record("function", frame.function);
      const fn = numbers.get(id);
      if (fn === undefined) throw new BadFile(`there is no function ${id}`);
      const line = numberOf("line", frame.line ?? 0);
      const place = builder.place(fn, line, frame.inlined === true, textOf(frame.file));
      node = builder.profile.stack(node, place);
    }
    return node;
  };
}

function publicStacks(builder: Builder, functions: Json[]): StackOf {
  const places = functions.map((entry) => {
    const told = record("function", entry.function);
    const url = textOf(entry.resolvedUrl);
    const location = (told.location ?? {}) as Json;
    const fn = builder.fn({
      name: nameOf(told),
      library: libraryOf(builder, told, url),
      file: url,
      line: Number(location.line) || 0,
      kind: textOf(entry.kind),
    });
    return builder.place(fn);
  });
  return (stack) => {
    let node = 0;
    for (let i = stack.length - 1; i >= 0; i--) {
      const place = places[stack[i] as number];
      if (place === undefined) throw new BadFile(`there is no function ${stack[i]}`);
      node = builder.profile.stack(node, place);
    }
    return node;
  };
}

function ownersOf(told: Json): Json[] {
  const owners = [];
  for (
    let at = told.owner;
    at && typeof at === "object" && owners.length < 20;
    at = (at as Json).owner
  )
    owners.push(at as Json);
  return owners;
}

/** With its class, or the function it stands in: names are short in Dart. */
function nameOf(told: Json): string {
  let name = textOf(told.name);
  for (const { type, name: outer } of ownersOf(told)) {
    if (type !== "@Class" && type !== "@Function") break;
    if (outer && outer !== "::" && !name.startsWith(`${outer}.`)) name = `${outer}.${name}`;
  }
  return name;
}

function libraryOf(builder: Builder, told: Json, url: string): number {
  const owners = ownersOf(told);
  const library =
    owners.find(({ type }) => type === "@Library") ?? owners.find((one) => one.library)?.library;
  const uri = textOf((library as Json | undefined)?.uri) || url;
  const isDart = /^(package|dart):/.test(uri);
  return builder.library(uri.replace(/^file:\/\//, ""), isDart ? uri : undefined);
}
