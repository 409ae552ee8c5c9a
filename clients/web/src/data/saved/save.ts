// Profiles as files: one row a form, named as `isoscope export` names them.
import type { Filter } from "../filter";
import type { Profile } from "../profile";
import { type Chosen, choose } from "../files/chosen";
import { writeCpuSamples } from "./cpu_samples_write";
import { writeCpuprofile } from "./cpuprofile_write";
import { writeCsv, writeCsvSamples } from "./csv_write";
import { writeDevtools } from "./devtools_write";
import { writeFirefox } from "./firefox_write";
import { writeFolded } from "../files/folded";
import { writePerf } from "./perf_write";
import { writePprof } from "./pprof_write";
import { writeSpeedscope } from "./speedscope_write";
import { writeTrace } from "./trace_write";
import type { Timeline } from "../timeline/timeline";

type Bytes = Uint8Array<ArrayBuffer>;

interface Writer {
  suffix: string;
  summary: string;
  isAny?: boolean; // it has a place for what is not time
  write(chosen: Chosen, name: string): string | Promise<string | Bytes>;
}

function form(suffix: string, summary: string, write: Writer["write"]): Writer {
  return { suffix, summary, write };
}

export const FORMS = {
  speedscope: form(".speedscope.json", "speedscope.app", writeSpeedscope),
  firefox: form(".firefox.json", "profiler.firefox.com", writeFirefox),
  pprof: { ...form(".pb.gz", "go tool pprof", (chosen) => zipped(writePprof(chosen))), isAny: true },
  folded: { ...form(".folded.txt", "folded stacks, for flamegraph.pl", writeFolded), isAny: true },
  perf: form(".perf.txt", "text as perf script prints it", writePerf),
  devtools: form(".devtools.json", "Dart DevTools, offline", writeDevtools),
  cpuprofile: form(".cpuprofile", "Chrome DevTools, VS Code; the busiest thread", writeCpuprofile),
  csv: form(".csv", "a row per function, for spreadsheets", writeCsv),
  "csv-samples": form(".samples.csv", "a row per sample, for spreadsheets", writeCsvSamples),
  cpusamples: form(".cpusamples.json", "everything, for this page", writeCpuSamples),
};

/** Of events alone. */
export const TRACE = { suffix: ".trace.json", summary: "slices and what else the program told, for Chrome and Perfetto" };

/** Those that have a place for samples of that kind. */
export const formsOf = (isTime: boolean) => (Object.keys(FORMS) as (keyof typeof FORMS)[]).filter((one) => isTime || FORMS[one].isAny);

export type Form = keyof typeof FORMS | "trace";

/** What matches the filter, as a file of that form. name: the profile's. */
export async function written(
  profile: Profile,
  filter: Filter,
  form: Form,
  name: string,
  timeline?: Timeline,
): Promise<string | Bytes> {
  if (form === "trace") {
    if (!timeline) throw new Error("there are no events");
    return writeTrace(timeline, filter);
  }
  return FORMS[form].write(choose(profile, filter), name);
}

async function zipped(bytes: Bytes): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
