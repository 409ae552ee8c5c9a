// Any source of a profile, opened: a service's URI, its info file, a saved session, or a program that is run.
import { statSync } from "node:fs";
import { basename } from "node:path";
import { isUri, nameOf, uriInFile } from "./address";
import { type Served, started } from "./children";
import { type LiveEvents, LiveProfile } from "./live_profile";
import { Problem } from "./problem";

export interface Opened {
  profile: LiveProfile;
  name: string; // for people; without a token
  /** Ends what was started for it; a service that ran before goes on. */
  close(): Promise<void>;
  /** Of a program that was run for it: once it has ended. */
  served: Served | null;
}

/** source: a URI, a service info file, or a session file, which `isoscope serve` reads. Throws a Problem. */
export async function openSource(source: string, events: LiveEvents = {}): Promise<Opened> {
  const uri = isUri(source) ? source : uriInFile(source);
  if (uri) {
    const profile = new LiveProfile(uri, events);
    return opened(profile, nameOf(profile.base), null);
  }
  if (!statSync(source, { throwIfNoEntry: false })?.isFile())
    throw new Problem(`'${source}' is neither the URI of a service nor a file`);
  const served = await started({ words: ["serve", "--quiet", source.startsWith("-") ? `./${source}` : source], isOurs: true });
  return opened(new LiveProfile(served.uri, events), basename(source), served);
}

/** What to run, as a launch entry of an editor has it. */
export interface Launch {
  program: string;
  args?: string[];
  cwd?: string;
  env?: Record<string, string>;
  options?: string[]; // of isoscope run
  id?: string; // what its starter calls it, to be told of its end
}

/**
 * Runs a program; what it writes goes to events.output. Its service ends with it, unless options have "--keep": so
 * nothing is left behind by who is killed. What was sampled stays in the profile.
 */
export async function runProgram(
  { program, args = [], cwd, env, options = [] }: Launch,
  events: LiveEvents & { output?(text: string): void } = {},
): Promise<Opened> {
  const words = ["run", "--quiet", ...options, "--", program, ...args];
  const served = await started({ words, cwd, env, output: events.output?.bind(events) });
  return opened(new LiveProfile(served.uri, events), basename(program), served);
}

function opened(profile: LiveProfile, name: string, served: Served | null): Opened {
  const close = async () => {
    profile.close();
    await served?.end();
  };
  return { profile, name, close, served };
}
