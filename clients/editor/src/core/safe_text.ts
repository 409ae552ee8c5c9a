// Names of programs and functions are a stranger's words: none of them may be obeyed.

const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu; // among them those that turn the direction of text
const MARKUP = /[\\`*_{}[\]()#+\-.!|<>~&$:@]/g;

/** On one line, and without what an editor or a terminal would obey. */
export const plain = (text: string) => text.replace(CONTROL, "?");

/** The same for Markdown: it is shown as it is. */
export const markdown = (text: string) => plain(text).replace(MARKUP, "\\$&");

/** Cut in the middle: a C++ name begins with its namespace and ends with its function. */
export function shortened(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const tail = Math.floor(((most - 1) * 2) / 3);
  return [...letters.slice(0, most - 1 - tail), "…", ...letters.slice(letters.length - tail)].join("");
}
