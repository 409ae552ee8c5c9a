// When a function ran: processors in use by stacks that hold it, in steps of time.
import { ROOT } from "./call_tree";
import { type Filter, passing } from "./filter";
import type { Profile } from "./profile";

export interface Steps {
  origin_us: number;
  step_us: number;
  steps: number;
}

/** In the same measure as the curve of the overview. */
export function activity(
  profile: Profile,
  filter: Filter,
  fn: number,
  { origin_us, step_us, steps }: Steps,
): Float64Array {
  const { parents, functions, length } = profile.calls;
  const holds = new Uint8Array(length);
  for (let node = ROOT + 1; node < length; node++)
    holds[node] = functions[node] === fn ? 1 : holds[parents[node]];
  const used = new Float64Array(steps);
  const { callOf } = profile;
  const { stack, time_us, cpu_ns } = profile.samples;
  passing(profile, filter, (i) => {
    const step = Math.floor((time_us.data[i] - origin_us) / step_us);
    if (step < 0 || step >= steps || !holds[callOf[stack.data[i]]]) return;
    used[step] += cpu_ns.data[i] / (1000 * step_us);
  });
  return used;
}
