// `isoscope lsp`: a language server on standard input and output.
import { createConnection, ProposedFeatures } from "vscode-languageserver/node";
import { settingsOf } from "./settings";
import { serve } from "./server";

const settings = settingsOf(process.argv.slice(2));
// Standard output is the protocol's: whatever else would write to it is said on standard error.
console.log = console.info = console.warn = console.debug = console.error;
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => process.exit(1)); // ends what it started
serve(createConnection(ProposedFeatures.all, process.stdin, process.stdout), settings);
