// When a function ran: processors in use by stacks that hold it, in steps of time.
import { ROOT } from "../call_tree";
import { type Filter, passes } from "../filter";
import type { Profile } from "../profile";
import { cpuLength, eachPart, type Steps } from "../spread";

/** In the same measure as the curve of the overview. */
export function activity(profile: Profile, filter: Filter, fn: number, steps: Steps): Float64Array {
  const { parents, functions, length } = profile.calls;
  const holds = new Uint8Array(length);
  for (let node = ROOT + 1; node < length; node++)
    holds[node] = functions[node] === fn ? 1 : holds[parents[node]];
  const used = new Float64Array(steps.steps);
  const { callOf } = profile;
  const { stack } = profile.samples;
  const counts = passes(profile, filter);
  eachPart(profile, steps, cpuLength(profile), (i, step, part) => {
    if (counts[i] && holds[callOf[stack.data[i]]]) used[step] += part;
  });
  return used;
}
