// workspace/executeCommand: what a user may ask for.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { exported } from "../core/exported";
import type { Found } from "../core/find";
import type { Launch } from "../core/open";
import { Problem } from "../core/problem";
import { COMMANDS } from "./command_names";
import { pageOf } from "./links";
import type { Status } from "./own_messages";
import { launchOf } from "./settings";
import type { Shown } from "./shown";
import { statusOf } from "./status";

/** What commands need of the editor and the server. */
export interface Context {
  readonly shown: Shown;
  readonly roots: readonly string[];
  readonly launches: ReadonlyMap<string, Launch>;
  alive(): Promise<Found[]>;
  /** One of several texts; null: none. */
  choose(question: string, texts: readonly string[]): Promise<number | null>;
  /** Both show it with progress; no other one takes its place by itself then. */
  open(source: string): Promise<void>;
  run(launch: Launch): Promise<void>;
  openPage(uri: string): Promise<void>;
}

type Handler = (context: Context, words: readonly unknown[]) => Promise<unknown>;

/** Throws a Problem that says what was wrong with the words. */
export const HANDLERS: Record<string, Handler> = {
  [COMMANDS.attach]: async (context, [source]) => {
    const wanted = optionalText(source, "attach: a URI, an info file or a session");
    await context.open(wanted || (await chosenService(context)));
    return statusOf(context.shown, context.roots);
  },
  [COMMANDS.run]: async (context, [entry]) => {
    const launch = await chosenLaunch(context, entry);
    await context.run(inProject(context, launch));
    return statusOf(context.shown, context.roots);
  },
  [COMMANDS.stop]: async ({ shown, roots }) => {
    await shown.stop();
    return statusOf(shown, roots);
  },
  [COMMANDS.window]: async ({ shown, roots }, words): Promise<Status> => {
    const [from, to] = Array.isArray(words[0]) ? (words[0] as unknown[]) : words;
    if (from === undefined || from === null) shown.setWindow(null);
    else if (typeof from === "number" && typeof to === "number" && 0 <= from && from < to) shown.setWindow([from, to]);
    else throw new Problem("window: two times are expected, in seconds since the first sample, the earlier one first");
    return statusOf(shown, roots);
  },
  [COMMANDS.compare]: async ({ shown, roots }, [source]) => {
    await shown.compareWith(optionalText(source, "compare: a session, a URI or an info file"));
    return statusOf(shown, roots);
  },
  [COMMANDS.clear]: async ({ shown, roots }) => {
    await shown.clear();
    return statusOf(shown, roots);
  },
  [COMMANDS.openPage]: async ({ shown, openPage }, [key]) => {
    const uri = pageOf(shown, optionalText(key, "openPage: a function's key"));
    if (!uri) throw new Problem("there is no profile to show in the page");
    mustServe(shown, "and its page with it");
    await openPage(uri);
    return uri;
  },
  [COMMANDS.export]: async ({ shown, roots }, [name, form, other]) => {
    const here = (path: string) => resolve(roots[0] ?? ".", path);
    const words = optionalText(name, "export: a file to write");
    if (!words) throw new Problem("export: a file to write is expected, such as run.cpuprofile");
    const target = { file: here(words), format: optionalText(form, "export: a format") };
    const file = optionalText(other, "export: a profile's file");
    if (file) return exported({ source: here(file), ...target });
    if (!shown.profile) throw new Problem("there is no profile to export");
    mustServe(shown, "and nothing can be exported of it");
    return exported({ source: shown.profile.base, ...target, ...(shown.window_s && { window_s: shown.window_s }) });
  },
  [COMMANDS.status]: async ({ shown, roots }) => statusOf(shown, roots),
  [COMMANDS.services]: ({ alive }) => alive(),
};

function mustServe({ profile }: Shown, what: string): void {
  if (profile?.link.state !== "open")
    throw new Problem(`the service has ended, ${what}; \`isoscope run --keep\` keeps it, \`-o FILE\` leaves a session`);
}

function optionalText(value: unknown, wanted: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw new Problem(`${wanted} is expected`);
  return value;
}

async function chosenService({ alive, choose }: Context): Promise<string> {
  const all = await alive();
  if (!all.length) throw new Problem("no service runs here: start the program with `isoscope run --write-service-info FILE -- PROGRAM`");
  const one = all.length === 1 ? 0 : await choose("Which service?", all.map(wordsOf));
  if (one === null) throw new Problem(`${all.length} services run; say which one: ${all.map(wordsOf).join(", ")}`);
  return all[one].base;
}

export const wordsOf = ({ base, told }: Found) => `${new URL(base).host} (${told})`;

async function chosenLaunch({ launches, choose }: Context, entry: unknown): Promise<Launch> {
  if (entry !== undefined && entry !== null && typeof entry !== "string") return launchOf(entry);
  const names = [...launches.keys()];
  if (!names.length) throw new Problem('run: there is no launch entry; give {"program": ...}, or entries in the option "launch"');
  const at = entry ? names.indexOf(entry) : names.length === 1 ? 0 : await choose("Which one?", names);
  if (at === null || at < 0) throw new Problem(`run: ${entry ? `'${entry}' is no launch entry` : "say which entry"}; there are: ${names.join(", ")}`);
  return launches.get(names[at])!;
}

/** Programs and folders are the project's where they have no path of their own. */
function inProject({ roots }: Context, launch: Launch): Launch {
  const cwd = launch.cwd ?? roots[0];
  if (cwd && !existsSync(cwd)) throw new Problem(`run: the folder ${cwd} is not there`);
  return { ...launch, ...(cwd && { cwd }) };
}
