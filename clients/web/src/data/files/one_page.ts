// The one page to share: the built page (one_page.html) with its own files and a profile's inside. The Python client
// writes the same (its formats/one_page.py).
//
// Lost: nothing of the file that is inside.

/** What stands in it, each as gzip in base64: the page's files by name. */
export const PARTS = ["app.css", "app.js", "chunk.js", "later.js", "one_page.html"] as const;

export type Parts = Record<(typeof PARTS)[number], string>;

export interface Held {
  file: string; // the profile's name
  look: string; // the fragment of the view that it opens at; "": as any page
  profile: string; // its file, in base64
}

const SIGNS: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => SIGNS[sign]);

/** page: one_page.html. In one go: what is put in is not looked through again. */
export function onePage(page: string, parts: Parts, { file, look, profile }: Held): string {
  const words: Record<string, string> = {
    ...parts,
    TITLE: escaped(`${file} · isoscope`),
    FILE: escaped(file),
    LOOK: escaped(look),
    PROFILE: profile,
  };
  return page.replace(/@([\w.]+)@/g, (open, name) => words[name] ?? open);
}
