// Links to the page: from the name of each function that has samples to its callers and callees there.
import type { DocumentLink } from "vscode-languageserver/node";
import { plain } from "../core/safe_text";
import type { Documents } from "./documents";
import { type FileView, lastName } from "./file_view";
import type { Shown } from "./shown";

/** The page of a function, or of all; "": there is no profile. It has the service's token in it. */
export function pageOf({ profile }: Shown, key = ""): string {
  if (!profile) return "";
  const words = key ? `#${new URLSearchParams({ view: "sandwich", picked: key })}` : "";
  return profile.base + words;
}

export function linksOf(shown: Shown, view: FileView | null, documents: Documents, uri: string): DocumentLink[] {
  if (shown.profile?.link.state !== "open") return [];
  const links = new Map<string, DocumentLink>(); // one at a place: the heaviest's
  for (const { fact, line } of view?.functions ?? []) {
    const name = lastName(fact.name);
    const at = documents.text(uri, line).search(new RegExp(`(?<![\\w$])${name.replace(/[^\w]/g, "\\$&")}(?![\\w$])`));
    if (at < 0 || links.has(`${line}:${at}`)) continue;
    links.set(`${line}:${at}`, {
      range: { start: { line: line - 1, character: at }, end: { line: line - 1, character: at + name.length } },
      tooltip: `${plain(fact.name)} in isoscope's page`,
      target: pageOf(shown, fact.key),
    });
  }
  return [...links.values()];
}
