// From a file to a profile, by what is in it.
//
//   bytes -> session?  -> its reader
//         -> unzipped -> JSON?   -> the row of READERS that knows it -> Profile
//                     -> folded? -> its reader
//                     -> else    -> pprof
//
// Errors  BadFile.
import type { SamplesKind } from "../../wire/protocol";
import type { Profile } from "../profile";
import type { Stalls } from "../stalls/stalls";
import type { Events } from "../timeline/events";
import { BadFile, lineUp } from "./builder";
import { isCpuSamples, readCpuSamples } from "./cpu_samples_read";
import { isFolded, readFolded } from "./folded";
import type { Json } from "./json";
import { readPprof } from "./pprof_read";
import { isSession } from "./session_blocks";
import { readSession, type SessionFacts } from "./session_read";
import { isSpeedscope, readSpeedscope } from "./speedscope_read";

export interface Opened {
  form: string;
  profile: Profile;
  kinds?: ReadonlyMap<SamplesKind, Profile>; // samples of others than time
  session?: SessionFacts;
  texts?: ReadonlyMap<string, string>; // of source files, by their paths
  events?: Events;
  stalls?: Stalls;
}

export interface OpenedFile extends Omit<Opened, "session"> {
  session: SessionFacts | null; // null: it is none
  timeless: boolean; // it tells no times: samples stand one after another
}

interface Reader {
  form: string;
  knows(value: Json): boolean;
  read(value: Json): Profile;
}

// A further form of JSON is a further row.
const READERS: Reader[] = [
  { form: "speedscope", knows: isSpeedscope, read: readSpeedscope },
  { form: "CpuSamples", knows: isCpuSamples, read: readCpuSamples },
];

const ADVICE = "isoscope reads sessions, speedscope, pprof, CpuSamples and folded stacks";
const BYTES_MOST = 2 ** 31; // unzipped: what is small as a file need not be so in memory

export async function openFile(content: Uint8Array<ArrayBuffer>): Promise<OpenedFile> {
  if (!content.length) throw new BadFile("the file is empty");
  const zipped = content[0] === 0x1f && content[1] === 0x8b;
  const opened = readBytes(zipped ? await unzipped(content) : content);
  const { samples } = opened.profile;
  if (!samples.length && !opened.kinds?.size && !opened.events?.timeline.length && !opened.stalls?.length)
    throw new BadFile(`${opened.form} file without samples`);
  const timeless = samples.length > 0 && samples.time_us.view().every((time) => time === 0);
  if (timeless) lineUp(opened.profile);
  return { session: null, ...opened, timeless };
}

function readBytes(bytes: Uint8Array): Opened {
  if (isSession(bytes)) return { form: "isoscope session", ...readSession(bytes) };
  const start = new TextDecoder().decode(bytes.subarray(0, 4100)).trimStart();
  if (start[0] === "{" || start[0] === "[") return readJson(new TextDecoder().decode(bytes));
  if (/^<(\?xml|!doctype|html|svg)\b/i.test(start))
    throw new BadFile(`HTML page or SVG picture; ${ADVICE}`);
  // Whatever is not text may be pprof; it has no mark.
  if (!/[^\t\r\n\x20-\uffff]/.test(start)) {
    const text = new TextDecoder().decode(bytes);
    if (isFolded(text)) return { form: "folded", profile: readFolded(text) };
    throw new BadFile(`unrecognized text format; ${ADVICE}`);
  }
  try {
    return { form: "pprof", profile: readPprof(bytes) };
  } catch (error) {
    if (!(error instanceof BadFile)) throw error;
    throw new BadFile(`${error.message}; ${ADVICE}`);
  }
}

function readJson(text: string): Opened {
  const value = parsed(text);
  const known = READERS.find(({ knows }) => knows(value));
  if (!known) throw new BadFile(`unrecognized JSON format; ${ADVICE}`);
  return { form: known.form, profile: known.read(value) };
}

function parsed(text: string): Json {
  let value: Json | null;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BadFile(`invalid or truncated JSON: ${(error as Error).message}`);
  }
  if (value && "jsonrpc" in value) value = value.result as Json; // a reply as it came
  if (!value || typeof value !== "object")
    throw new BadFile(`JSON without a profile; ${ADVICE}`);
  return value;
}

async function unzipped(content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([content]).stream().pipeThrough(new DecompressionStream("gzip"));
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((error: Error) => {
      throw new BadFile(`damaged or truncated gzip file: ${error.message}`);
    });
    if (done) break;
    parts.push(value);
    length += value.length;
    if (length > BYTES_MOST) throw new BadFile("gzip file of more than 2 GiB unpacked");
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
