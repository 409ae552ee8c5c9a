// node page_totals.mjs URI FOLDER: pageTotals as JSON on standard output.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { build } = createRequire(join(here, "../../clients/web/package.json"))("esbuild");
const [uri, folder] = process.argv.slice(2);
const outfile = join(folder, "page_totals.mjs");
await build({
  entryPoints: [join(here, "page_totals.ts")],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  define: { WEB: JSON.stringify(join(here, "../../clients/web")) },
  target: "node18",
  logLevel: "warning",
});
const { pageTotals } = await import(pathToFileURL(outfile).href);
console.log(JSON.stringify(await pageTotals(uri, folder)));
