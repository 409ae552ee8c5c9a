// What the user chose: by the command's words, and by the editor's initializationOptions.
import { parseArgs } from "node:util";
import type { Launch } from "../core/open";
import { Problem } from "../core/problem";
import { type Mapping, mappingOf } from "../core/source_map";

export interface Settings {
  source: string; // "": the one that is found
  mappings: Mapping[];
  hot: number; // a share: lines with so much get hints
  launches: Map<string, Launch>; // by name
}

const HOT_PERCENT = 1;

/** `isoscope lsp` has checked the words. */
export function settingsOf(words: readonly string[]): Settings {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    strict: false,
    options: { "source-map": { type: "string", multiple: true }, hot: { type: "string" }, stdio: { type: "boolean" } },
  });
  const maps = (values["source-map"] ?? []) as string[];
  return {
    source: positionals[0] ?? "",
    mappings: maps.map(mappingOf),
    hot: Number(values.hot ?? HOT_PERCENT) / 100,
    launches: new Map(),
  };
}

/** The editor's words come after the command's. Throws a Problem that names what is wrong. */
export function withOptions(settings: Settings, options: unknown): Settings {
  const { source, sourceMap, hot, launch } = Object(options) as Record<string, unknown>;
  if (source !== undefined && typeof source !== "string") throw new Problem("source: a URI or a file is expected");
  if (hot !== undefined && !(typeof hot === "number" && hot >= 0 && hot <= 100))
    throw new Problem("hot: a percentage from 0 to 100 is expected");
  if (sourceMap !== undefined && !isTexts(sourceMap)) throw new Problem('sourceMap: a list of "FROM=TO" is expected');
  return {
    source: source || settings.source,
    mappings: [...settings.mappings, ...((sourceMap as string[] | undefined) ?? []).map(mappingOf)],
    hot: hot === undefined ? settings.hot : (hot as number) / 100,
    launches: new Map([...settings.launches, ...launchesOf(launch)]),
  };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

function launchesOf(list: unknown): [string, Launch][] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw new Problem("launch: a list of entries is expected");
  return list.map((entry) => [String(Object(entry).name ?? ""), launchOf(entry)]);
}

/** An entry of a list, or what a command was given. */
export function launchOf(entry: unknown): Launch {
  const { name = "launch", id, program, args = [], cwd, env = {}, options = [] } = Object(entry) as Record<string, unknown>;
  const wrong = (member: string, wanted: string) => new Problem(`${String(name)}: ${member}: ${wanted} is expected`);
  if (typeof program !== "string" || !program) throw wrong("program", "a file");
  if (!isTexts(args)) throw wrong("args", "a list of texts");
  if (!isTexts(options)) throw wrong("options", "a list of options of `isoscope run`");
  if (cwd !== undefined && typeof cwd !== "string") throw wrong("cwd", "a folder");
  if (id !== undefined && typeof id !== "string") throw wrong("id", "a text");
  if (typeof env !== "object" || !isTexts(Object.values(env ?? {}))) throw wrong("env", "names with texts");
  return { program, args, options, env: env as Record<string, string>, ...(cwd !== undefined && { cwd }), ...(id !== undefined && { id }) };
}
