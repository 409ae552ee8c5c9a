// The page that a flame graph is saved as, for esbuild: the module "flame-page" is the Python client's, with its
// style, its script and their policy in it. What is of a profile is left open: @TITLE@, @SUMMARY@, @DATA@.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../python/src/isoscope/formats/page");
const part = (name) => readFileSync(join(folder, name), "utf8");
const hash = (text) => `&#x27;sha256-${createHash("sha256").update(text).digest("base64")}&#x27;`;

function page() {
  const [style, script] = [part("flame.css"), part("flame.js")];
  const parts = {
    POLICY:
      `default-src &#x27;none&#x27;; img-src data:; style-src ${hash(style)}; ` +
      `script-src ${hash(script)}; base-uri &#x27;none&#x27;; form-action &#x27;none&#x27;`,
    STYLE: style,
    SCRIPT: script,
  };
  return part("flame.html").replace(/@([A-Z]+)@/g, (open, name) => parts[name] ?? open);
}

export const flamePage = {
  name: "flame-page",
  setup(build) {
    build.onResolve({ filter: /^flame-page$/ }, ({ path }) => ({ path, namespace: "flame-page" }));
    build.onLoad({ filter: /.*/, namespace: "flame-page" }, () => ({ contents: page(), loader: "text" }));
  },
};
