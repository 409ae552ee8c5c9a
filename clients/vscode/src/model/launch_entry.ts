// A launch configuration of launch.json as the server's entry: what `isoscope run` is told.

export interface Entry {
  id: string;
  name: string;
  program: string;
  args: string[];
  cwd?: string;
  env: Record<string, string>;
  options: string[];
}

const MODES = ["cpu", "wall"];

/** Throws an Error that names what is wrong with it, for the user. */
export function entryOf(config: Record<string, unknown>, id: string): Entry {
  const { name, program, args = [], cwd, env = {}, mode = "cpu", options = [] } = config;
  const wrong = (member: string, wanted: string) => new Error(`launch configuration "${String(name)}": ${member}: ${wanted} is expected`);
  if (typeof program !== "string" || !program) throw wrong("program", "a file");
  if (!areTexts(args)) throw wrong("args", "a list of texts");
  if (!areTexts(options)) throw wrong("options", "a list of options of `isoscope run`");
  if (cwd !== undefined && typeof cwd !== "string") throw wrong("cwd", "a folder");
  if (!MODES.includes(mode as string)) throw wrong("mode", `one of ${MODES.join(", ")}`);
  if (typeof env !== "object" || env === null || !areTexts(Object.values(env))) throw wrong("env", "names with texts");
  const modes = mode === "cpu" ? [] : ["--mode", mode as string];
  const entry = { id, name: String(name), program, args, env: env as Record<string, string>, options: [...modes, ...options] };
  return cwd ? { ...entry, cwd } : entry;
}

const areTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((one) => typeof one === "string");
