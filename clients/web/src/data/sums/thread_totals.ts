// How many samples each thread has, of those that pass.
import { type Filter, passing } from "../filter";
import type { Profile } from "../profile";

/** By number of the profile's threads. */
export function byThread(profile: Profile, filter: Filter): Float64Array {
  const counts = new Float64Array(profile.threads.length);
  const thread = profile.samples.thread.data;
  passing(profile, filter, (i) => counts[thread[i]]++);
  return counts;
}
