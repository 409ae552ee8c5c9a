// Ticks that became no sample, by cause: since the program's start, whatever part is asked about.
import type { LiveProfile } from "../../core/live_profile";

const WORD = "lost_";

/** Empty: none was lost, or there is nobody to ask. */
export async function lossesOf(profile: LiveProfile): Promise<Record<string, number>> {
  if (profile.link.state !== "open") return {};
  const reply = await profile.rpc.call("_getCpuSamples", { form: "table", count: 1 });
  if (!("_counters" in reply)) return {};
  const lost = Object.entries(reply._counters).filter(([name, count]) => name.startsWith(WORD) && count > 0);
  return Object.fromEntries(lost.map(([name, count]) => [name.slice(WORD.length), count]));
}
