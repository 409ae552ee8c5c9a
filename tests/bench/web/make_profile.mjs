// node make_profile.mjs FOLDER SAMPLES NODES: a call tree by chance, the same each time, as
// profile.speedscope.json (sample by sample) and profile.d3.json (the tree with its sums).
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const [folder, samples, nodes] = [
  process.argv[2],
  Number(process.argv[3]),
  Number(process.argv[4]),
];
const FUNCTIONS = 5000;
const DEPTH_MOST = 40;

let state = 12345; // a linear congruential generator: no profile differs from the one before
const chance = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;

const name = (fn) => `namespace_${fn % 50}::function_${fn}(int, char const*)`;
const parents = new Int32Array(nodes);
const functions = new Int32Array(nodes);
const depths = new Int32Array(nodes);
const children = Array.from({ length: nodes }, () => new Map());
for (let node = 1; node < nodes;) {
  // Near the newest: deep rather than wide.
  const parent = Math.floor(node * Math.sqrt(chance()));
  const fn = Math.floor(FUNCTIONS * chance() ** 2);
  if (depths[parent] >= DEPTH_MOST || children[parent].has(fn)) continue;
  [parents[node], functions[node], depths[node]] = [parent, fn, depths[parent] + 1];
  children[parent].set(fn, node++);
}

const stacks = Array.from({ length: nodes }, () => "");
for (let node = 1; node < nodes; node++) {
  const above = stacks[parents[node]];
  stacks[node] = above ? `${above},${functions[node]}` : String(functions[node]);
}
const leaves = Int32Array.from({ length: samples }, (_, i) =>
  i < nodes - 1 ? i + 1 : 1 + Math.floor((nodes - 1) * chance() ** 2),
);
for (let i = samples - 1; i > 0; i--) {
  const other = Math.floor((i + 1) * chance());
  [leaves[i], leaves[other]] = [leaves[other], leaves[i]];
}

/** Many small texts as few writes. */
function writer(path) {
  const file = openSync(path, "w");
  let parts = [];
  const flush = () => {
    writeSync(file, parts.join(""));
    parts = [];
  };
  return {
    put(text) {
      if (parts.push(text) >= 20_000) flush();
    },
    end() {
      flush();
      closeSync(file);
    },
  };
}

const out = writer(join(folder, "profile.speedscope.json"));
const frames = Array.from({ length: FUNCTIONS }, (_, fn) =>
  JSON.stringify({ name: name(fn), file: "/app" }),
);
out.put(
  `{"$schema":"https://www.speedscope.app/file-format-schema.json","name":"made","shared":{"frames":[`,
);
out.put(`${frames.join()}]},"profiles":[{"type":"sampled","name":"main","unit":"microseconds",`);
out.put(`"startValue":0,"endValue":${samples * 1000},"samples":[`);
leaves.forEach((leaf, i) => out.put(`${i ? "," : ""}[${stacks[leaf]}]`));
out.put(`],"weights":[${Array.from(leaves, () => 1000).join()}]}]}`);
out.end();

const totals = new Int32Array(nodes);
for (const leaf of leaves) totals[leaf]++;
for (let node = nodes - 1; node > 0; node--) totals[parents[node]] += totals[node];
const tree = writer(join(folder, "profile.d3.json"));
const put = (node) => {
  tree.put(
    `{"name":${JSON.stringify(node ? name(functions[node]) : "all")},"value":${totals[node]},"children":[`,
  );
  let first = true;
  for (const child of children[node].values()) {
    if (!first) tree.put(",");
    first = false;
    put(child);
  }
  tree.put("]}");
};
put(0);
tree.end();
