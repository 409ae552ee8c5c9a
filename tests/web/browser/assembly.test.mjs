// The instructions of a function, beside its source and alone.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { recordingOf } from "./recording.mjs";

const LOOP = "sum += i % 7;";
const PROGRAM = `
#include <stdint.h>
#include <stdio.h>
__attribute__((noinline, noclone)) uint64_t mix(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3;
}
__attribute__((noinline, noclone)) uint64_t hot(uint64_t rounds)
{
    volatile uint64_t sum = mix(rounds);
    for (uint64_t i = 0; i < rounds; i++)
        ${LOOP}
    return sum;
}
int main(void)
{
    printf("%d\\n", (int)hot(200 * 1000 * 1000));
    return 0;
}
`;

const folder = mkdtempSync(join(tmpdir(), "isoscope-assembly-"));
after(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, "hot.c"), PROGRAM);
const flags = ["-O1", "-g", "-Wl,--build-id", "-o", "hot", "hot.c"];
const compiled = spawnSync(process.env.CC ?? "cc", flags, { cwd: folder, encoding: "utf8" });
assert.equal(compiled.status, 0, compiled.stderr);
const { visiting } = await recordingOf([join(folder, "hot")], "--source-root", folder);
const listing = (visit) => visit.page.getByRole("list", { name: "Instructions of hot" });

async function showAssembly(visit) {
  await visit.tab("Table").click();
  await visit.page.getByRole("grid").getByRole("row").filter({ hasText: "hot" }).first().click();
  await visit.page.locator("aside h2", { hasText: "hot" }).waitFor();
  await visit.tab("Source").click();
  await visit.button("Assembly").click();
}

/** Of the rows in sight. */
async function rowsOf(visit) {
  await visit.settled();
  return listing(visit)
    .getByRole("listitem")
    .evaluateAll((rows) =>
      rows.map((row) => ({
        text: row.querySelector("code").innerText,
        place: row.title.split("\n")[1],
        heat: Number.parseFloat(row.style.getPropertyValue("--heat")),
        isCurrent: row.classList.contains("current"),
      })),
    );
}

visiting("instructions stand beside the source, and the hottest is one of the loop", async (visit) => {
  await showAssembly(visit);
  await listing(visit).getByRole("listitem").first().waitFor();
  await visit.page.locator(".source .row", { hasText: LOOP }).waitFor();
  const rows = await rowsOf(visit);
  assert.ok(rows.some(({ text }) => /<mix>$/.test(text)), JSON.stringify(rows));
  const hottest = rows.find(({ isCurrent }) => isCurrent);
  assert.equal(hottest.heat, Math.max(...rows.map(({ heat }) => heat)));
  const line = PROGRAM.split("\n").findIndex((text) => text.includes(LOOP)) + 1;
  assert.ok([`hot.c:${line}`, `hot.c:${line - 1}`].some((end) => hottest.place.endsWith(end)));
  const [source, code] = await visit.page.locator(".beside > div").evaluateAll((parts) =>
    parts.map((part) => part.getBoundingClientRect().toJSON()),
  );
  assert.ok(source.right <= code.left + 1 && source.width > 200 && code.width > 200);
  await visit.picture("assembly");
});

visiting("a jump shows where it leads to", async (visit) => {
  await showAssembly(visit);
  await listing(visit).getByRole("listitem").first().waitFor();
  const rows = await rowsOf(visit);
  // "jne 0x1162", "b.ne #0x1162": the last jump, back to the loop's begin.
  const at = rows.findLastIndex(({ text }) => /^(j|b\.|cbn?z).*0x/.test(text));
  await listing(visit).getByRole("listitem").nth(at).hover();
  const target = listing(visit).locator(".row.target .offset");
  await target.waitFor();
  assert.ok(rows[at].text.endsWith(`0x${await target.innerText()}`));
});

visiting("a link has the assembly, and below 640 pixels it stands under the source", async (visit) => {
  await showAssembly(visit);
  await listing(visit).getByRole("listitem").first().waitFor();
  await visit.sameElsewhere("assembly", () => [
    document.querySelector("[aria-label='Instructions of hot'] .row.current code").innerText,
  ]);
  await visit.page.setViewportSize({ width: 400, height: 800 });
  await visit.when(() => {
    const [source, code] = [...document.querySelectorAll(".beside > div")].map((part) =>
      part.getBoundingClientRect(),
    );
    return source.bottom <= code.top + 1 && code.width > 200 && code.height > 60;
  });
  await visit.picture("assembly-narrow");
});

visiting("a file that is gone is told as the cause", async (visit) => {
  renameSync(join(folder, "hot"), join(folder, "elsewhere"));
  try {
    await showAssembly(visit);
    await visit.page
      .getByText("hot cannot be disassembled: deleted, and its process has ended.")
      .waitFor();
  } finally {
    renameSync(join(folder, "elsewhere"), join(folder, "hot"));
  }
});
