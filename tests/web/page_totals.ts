// A service's samples as the page reads them: their totals, and what the page saves of them.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { choose } from "../../clients/web/src/data/files/chosen";
import { fromBase64 } from "../../clients/web/src/data/files/base64";
import { onePage, type Parts, PARTS } from "../../clients/web/src/data/files/one_page";
import { openFile } from "../../clients/web/src/data/files/open";
import { FORMS, TRACE, written } from "../../clients/web/src/data/saved/save";
import { weigh } from "../../clients/web/src/data/filter";
import type { Profile } from "../../clients/web/src/data/profile";
import { Shaper } from "../../clients/web/src/data/shape";
import { TableReader } from "../../clients/web/src/data/table_form";
import { Events } from "../../clients/web/src/data/timeline/events";
import { byFunction, count } from "../../clients/web/src/data/totals";

declare const WEB: string; // the folder clients/web, set by page_totals.mjs

/** profile: in base64. */
function shared(profile: string): string {
  const file = (name: string) => readFileSync(join(WEB, "generated", name));
  const parts = Object.fromEntries(PARTS.map((name) => [name, gzipSync(file(name)).toString("base64")])) as Parts;
  return onePage(file("one_page.html").toString(), parts, { file: 'a "b" <c>', look: "#unit=time", profile });
}

/** Writes page.pb.gz, page.speedscope.json, page.trace.json, ... into a folder; gives rows by name. */
export async function pageTotals(uri: string, folder: string) {
  const reader = new TableReader();
  for (let [cursor, more] = ["", true]; more;) {
    const place = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
    const response = await fetch(`${uri}_getCpuSamples?form=table&count=1000${place}`);
    const { result } = await response.json();
    reader.add(result);
    [cursor, more] = [result.next, Boolean(result.more)];
  }
  const { profile } = reader;
  for (const { pid } of profile.threads) profile.processNames.set(pid, "python3"); // as getVM tells
  for (const { suffix, write } of Object.values(FORMS))
    writeFileSync(join(folder, `page${suffix}`), await write(choose(profile, {}), "page"));
  const { result } = await (await fetch(`${uri}_getSession`)).json();
  const session = await openFile(fromBase64(result.data));
  writeFileSync(join(folder, "page.html"), shared(result.data));
  const events = new Events();
  for (let [cursor, more] = ["", true]; more;) {
    const place = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
    const { result: table } = await (await fetch(`${uri}_getTimeline?count=100${place}`)).json();
    events.add(table, 1e6);
    [cursor, more] = [table.next, Boolean(table.more)];
  }
  writeFileSync(join(folder, `page${TRACE.suffix}`), await written(profile, {}, "trace", "page", events.timeline));
  return {
    ...{ ...totals(profile), slices: slicesOf(events) },
    session: { ...totals(session.profile), slices: slicesOf(session.events!) },
  };
}

/** By name and stream. */
function slicesOf(events: Events) {
  const table = events.slices({}, { by: "total", ascending: false }, null);
  const { names, streams, count, total, p50, p95, most } = table;
  return Array.from(table.rows, (row) => [names[row], streams[row], ...[count, total, p50, p95, most].map((one) => one[row])]);
}

function totals(profile: Profile) {
  const counted = count(new Shaper(profile, []).shape(), weigh(profile, {}));
  const { functions } = profile;
  const samples = byFunction(counted.calls, counted.samples, functions.length);
  const time_ns = byFunction(counted.calls, counted.time_ns, functions.length);
  return {
    samples: profile.samples.length,
    functions: functions.map(({ name }, fn) => ({
      name,
      self: samples.self[fn],
      total: samples.total[fn],
      self_ns: time_ns.self[fn],
      total_ns: time_ns.total[fn],
    })),
  };
}
