// Profiles as files: one row a form.
import type { Chosen } from "./chosen";
import { writeCpuSamples } from "./cpu_samples_write";
import { writeFolded } from "./folded";
import { writePprof } from "./pprof_write";
import { writeSpeedscope } from "./speedscope_write";

export type Form = "speedscope" | "folded" | "pprof" | "cpusamples";

interface Writer {
  suffix: string;
  summary: string;
  write(chosen: Chosen, name: string): string | Promise<Uint8Array<ArrayBuffer>>;
}

export const FORMS: Record<Form, Writer> = {
  speedscope: { suffix: ".speedscope.json", summary: "speedscope.app", write: writeSpeedscope },
  folded: {
    suffix: ".folded.txt",
    summary: "folded stacks, for flamegraph.pl",
    write: writeFolded,
  },
  pprof: {
    suffix: ".pb.gz",
    summary: "go tool pprof",
    write: (chosen) => zipped(writePprof(chosen)),
  },
  cpusamples: {
    suffix: ".cpusamples.json",
    summary: "all of it, for this page",
    write: writeCpuSamples,
  },
};

async function zipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
