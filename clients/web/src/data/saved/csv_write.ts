// CSV, for spreadsheets: a row a function, or a row a sample.
//
// Of functions, lost: stacks, threads, time, tags. Of samples, lost: definitions' lines. A stack is one
// cell, outermost first. A cell that a spreadsheet would take for a formula begins with an apostrophe.
import type { Profile } from "../profile";
import { type Chosen, functionSums, libraryPath, placesOf } from "../files/chosen";

export function writeCsv(chosen: Chosen): string {
  const { profile } = chosen;
  const cpu_ns = profile.samples.cpu_ns.data;
  const counts = functionSums(chosen, () => 1);
  const times = functionSums(chosen, (i) => cpu_ns[i] / 1000);
  const by = profile.unit() === "time" ? times : counts;
  const names = ["function", "library", "file", "line", "self_samples", "total_samples"];
  const rows = profile.functions
    .map(({ name, file, line }, fn) => ({ name, file, line, fn }))
    .filter(({ fn }) => counts.total[fn])
    .sort((a, b) => by.own[b.fn] - by.own[a.fn] || by.total[b.fn] - by.total[a.fn])
    .map(({ name, file, line, fn }) => [
      ...[name, libraryPath(profile, fn), file, line || ""],
      ...[counts.own[fn], counts.total[fn], Math.round(times.own[fn]), Math.round(times.total[fn])],
    ]);
  return written([[...names, "self_us", "total_us"], ...rows]);
}

export function writeCsvSamples({ profile, places }: Chosen): string {
  const { samples, threads, processNames, tags, states } = profile;
  const stacks = new Map<number, string>();
  const stackOf = (node: number) => {
    let text = stacks.get(node);
    if (text === undefined) stacks.set(node, (text = stackText(profile, node)));
    return text;
  };
  const names = ["time_us", "pid", "process", "tid", "thread", "cpu_us", "user_tag", "state"];
  const rows = Array.from(places, (i) => {
    const { pid, tid, name } = threads[samples.thread.data[i]];
    return [
      ...[samples.time_us.data[i], pid, processNames.get(pid) ?? "", tid, name],
      ...[Math.round(samples.cpu_ns.data[i] / 1000), tags.texts[samples.tag.data[i]] || name],
      ...[states.texts[samples.state.data[i]], samples.whole.data[i], stackOf(samples.stack.data[i])],
    ];
  });
  return written([[...names, "whole", "stack"], ...rows]);
}

function stackText(profile: Profile, node: number): string {
  const frames = placesOf(profile, node).map((place) => {
    const name = profile.functions[profile.functionAt(place)].name.replaceAll(";", ":");
    const { line } = profile.linePlace(place);
    return line ? `${name}:${line}` : name;
  });
  return frames.reverse().join(";");
}

function written(rows: (string | number)[][]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
