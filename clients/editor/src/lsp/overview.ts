// What an editor's own views show beside the text: `isoscope/overview` and `isoscope/lines`.
import { pathToFileURL } from "node:url";
import type { StallBrief } from "../../../web/src/data/stalls/brief";
import type { FunctionFact } from "../core/reading";
import { plain } from "../core/safe_text";
import { trendOf } from "../core/trend";
import type { FileView } from "./file_view";
import type { FunctionRow, Lines, Overview, Place, StallRow } from "./own_messages";
import type { Places } from "./places";
import type { Shown } from "./shown";
import { statusOf } from "./status";
import { milliseconds, trendWords } from "./words";

const FUNCTIONS_MOST = 50;
const STALLS_MOST = 50;

export function overviewOf(shown: Shown, roots: readonly string[], places: Places, cpu: number | null): Overview {
  const { reading, profile } = shown;
  const bySelf = [...(reading?.functions ?? [])].sort((a, b) => b.self - a.self || b.total - a.total);
  const stalls = profile?.stalls.rows({ by: "number", ascending: false }, null) ?? [];
  const culprits = new Map(bySelf.map((fact) => [fact.key, fact]));
  const isLive = !shown.hasEnded;
  return {
    status: statusOf(shown, roots),
    isLive,
    cpu: isLive ? cpu : null,
    functions: bySelf.slice(0, FUNCTIONS_MOST).map((fact) => functionRow(shown, places, fact)),
    stalls: stalls.slice(0, STALLS_MOST).map((one) => stallRow(one, placeHere(places, culprits.get(one.culpritKey)))),
  };
}

function functionRow({ before, reading }: Shown, places: Places, fact: FunctionFact): FunctionRow {
  const { key, name, library, self, total, totalSamples } = fact;
  const [trend = ""] = trendWords(trendOf(before, key, total, reading?.whole.samples ?? 0));
  const place = placeHere(places, fact);
  return { key, name: plain(name), library: plain(library), self, total, samples: totalSamples, trend, place };
}

function stallRow(stall: StallBrief, place: Place | null): StallRow {
  const { number, loop, thread, level, cause, culprit, duration_us, ongoing: isOngoing } = stall;
  const [names, duration] = [[loop, thread, cause, culprit].map(plain), milliseconds(duration_us)];
  return { number, loop: names[0], thread: names[1], level, cause: names[2], culprit: names[3], duration, isOngoing, place };
}

function placeHere(places: Places, fact: FunctionFact | undefined): Place | null {
  const place = fact && places.of(fact);
  return place ? { uri: pathToFileURL(place.path).href, line: place.line, isStale: place.isStale } : null;
}

export function linesIn(view: FileView | null): Lines {
  const lines = view?.lines(0) ?? [];
  return {
    stale: view?.isByName ? view.stale : "",
    lines: lines.map(({ fact, line }) => ({ line, self: fact.self, total: fact.total, samples: fact.totalSamples })),
  };
}
