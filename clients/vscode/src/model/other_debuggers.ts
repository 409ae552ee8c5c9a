// Launch configurations of debuggers of native programs: what they start, isoscope can run as well.

type Config = Record<string, unknown>;

const NATIVE = ["cppdbg", "lldb", "lldb-dap", "gdb"];

/** The same program as a configuration of the type isoscope; null: it starts no program of its own here. */
export function asOurs(config: Config): Config | null {
  const { type, request, name, program, args, cwd, env, environment, preLaunchTask } = config;
  if (!NATIVE.includes(String(type)) || request !== "launch" || typeof program !== "string" || !program) return null;
  return {
    ...{ type: "isoscope", request: "launch", name: String(name), program, env: variables(env ?? environment) },
    ...(Array.isArray(args) && { args: args.map(String) }),
    ...(typeof cwd === "string" && cwd && { cwd }),
    ...(typeof preLaunchTask === "string" && { preLaunchTask }),
  };
}

/** As an object, as "NAME=VALUE", or as objects with name and value. */
function variables(env: unknown): Record<string, string> {
  if (!Array.isArray(env)) return Object.fromEntries(Object.entries(Object(env)).map(([name, value]) => [name, String(value)]));
  return Object.fromEntries(
    env.map((one) => {
      if (typeof one !== "string") return [String(Object(one).name), String(Object(one).value)];
      const at = one.indexOf("=");
      return at < 0 ? [one, ""] : [one.slice(0, at), one.slice(at + 1)];
    }),
  );
}
