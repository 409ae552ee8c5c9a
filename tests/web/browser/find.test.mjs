// What one does with a recording: select, search, filter, focus, compare, save and open again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingOf } from "./recording.mjs";
import { busy } from "./service.mjs";
import { left, numberIn, Visit, wantedElsewhere } from "./visit.mjs";

const { browser, samples, visiting } = await recordingOf(busy(3));

visiting("each view shows the recording, by its tab and by its key", async (visit) => {
  const tabs = await visit.page.getByRole("tab").all();
  assert.ok(tabs.length >= 4);
  for (const [i, tab] of tabs.entries()) {
    await visit.page.keyboard.press(i < 9 ? String(i + 1) : "wxl"[i - 9]);
    await visit.when((at) => document.querySelectorAll("[role=tab]")[at].ariaSelected === "true", i);
    await visit.page.locator(".view > *").first().waitFor();
  }
});

visiting("a window that is dragged selects its samples, and Esc takes it back", async (visit) => {
  await visit.dragTime(0.25, 0.5);
  await visit.when((all) => {
    const label = document.querySelector(".boxes canvas").getAttribute("aria-label");
    return !label.includes(` ${all} `);
  }, samples.toLocaleString("en-US"));
  const part = await visit.samples();
  assert.ok(part > 0 && part < 0.5 * samples, `${part} of ${samples}`);
  await visit.page.keyboard.press("Escape");
  await visit.exactly(samples);
});

visiting("search counts what it finds, and [ and ] go through it", async (visit) => {
  await visit.page.keyboard.press("/");
  await visit.page.keyboard.type("rule");
  const output = visit.page.locator(".search output");
  await visit.when(() => / %/.test(document.querySelector(".search output").textContent));
  const plain = await output.innerText();
  assert.match(plain, /^\d[\d,]* functions?, [\d,]+ places?, \d+(\.\d)? %/);
  await visit.page.locator("#search").blur();
  await visit.page.keyboard.press("]");
  await visit.page.locator("aside h2", { hasText: "rule" }).waitFor();
  const first = await visit.text("aside h2");
  await visit.when(() => document.querySelector(".search output").textContent.startsWith("1 of"));
  await visit.page.keyboard.press("]");
  await visit.when((name) => document.querySelector("aside h2").textContent !== name, first);
  await visit.page.keyboard.press("[");
  await visit.when((name) => document.querySelector("aside h2").textContent === name, first);
  await visit.picture("search");

  await visit.page.fill("#search", "^_PyPegen_(parse|run)");
  await visit.when(() => document.querySelector(".search output").textContent.startsWith("0"));
  await visit.button(".*").click();
  await visit.when(() => /^[1-9]/.test(document.querySelector(".search output").textContent));
  await visit.page.fill("#search", "(");
  await visit.when(() =>
    /not an expression/.test(document.querySelector(".search output").textContent),
  );
});

visiting("focus and hide change the tree, are breadcrumbs, and are undone", async (visit) => {
  await pickFunction(visit, "_PyPegen_run_parser_from_string");
  const whole = await visit.flame();
  await visit.page.keyboard.press("f");
  await changedFrom(visit, whole);
  const focused = await visit.flame();
  assert.ok(numberIn(focused) < samples);
  await visit.page.locator(".crumbs .chip", { hasText: "_PyPegen_run_parser_from_string" }).click();
  await visit.when(
    (label) => document.querySelector(".boxes canvas").getAttribute("aria-label") === label,
    whole,
  );
  await visit.page.keyboard.press("Escape");
  await visit.when(
    (label) => document.querySelector(".boxes canvas").getAttribute("aria-label") === label,
    focused,
  );
});

visiting("filters tell what there is, and choose", async (visit) => {
  await visit.page.keyboard.press("t");
  const sheet = visit.page.getByRole("dialog", { name: "Filters" });
  await sheet.getByText("python3").first().waitFor();
  await visit.picture("filters");
  const library = sheet.locator("fieldset", { hasText: "Library of the leaf" });
  await library.locator("label").nth(1).waitFor();
  await visit.settled();
  const rows = await library.locator("label").all();
  assert.ok(rows.length >= 2, "the program and the C library");
  const wanted = numberIn(await rows[1].locator(".number").innerText());
  await rows[1].hover();
  await rows[1].getByRole("button", { name: "only" }).click();
  await visit.exactly(wanted);
  await library.getByRole("button", { name: "all", exact: true }).click();
  await visit.exactly(samples);
});

visiting("the address holds the view: opened anew it shows the same", async (visit) => {
  await pickFunction(visit, "_PyPegen_run_parser_from_string");
  await visit.dragTime(0.2, 0.8);
  await visit.moreThan(0);
  await visit.page.keyboard.press("2");
  await visit.when(() => /view=/.test(location.hash) && /window_us/.test(location.hash));
  const count = await visit.samples();
  const address = visit.page.url();
  const again = await Visit.of(browser, address);
  await again.exactly(count);
  assert.equal(
    await again.page.getByRole("tab", { selected: true }).innerText(),
    await visit.page.getByRole("tab", { selected: true }).innerText(),
  );
  assert.match(await again.text("aside h2"), /_PyPegen_run_parser_from_string/);
  await again.close();
});

/** Runs in the page: heads and rows of its table as they stand. */
async function tableShown() {
  // From its top: a link scrolls to what is picked, a click on a heading does not.
  document.querySelector(".view .table .body").scrollTop = 0;
  for (let frame = 0; frame < 2; frame++)
    await new Promise((drawn) => requestAnimationFrame(drawn));
  const all = (selector) => [...document.querySelectorAll(`.view ${selector}`)];
  return {
    heads: all(".head > *").map((one) => [one.textContent, one.getAttribute("aria-sort")]),
    rows: all(".table .body .row").map((row) => [row.ariaLevel, row.textContent]),
  };
}

/** Runs in the page: whether the rows of each caller stand by name, and some are beside another one. */
function siblingsByName(sign) {
  const before = []; // by depth
  let beside = 0;
  for (const row of document.querySelectorAll(".view .row")) {
    const depth = Number(row.ariaLevel);
    const name = row.querySelector("bdi").textContent;
    before.length = Math.min(before.length, depth + 1);
    if (before[depth] !== undefined && beside++ >= 0 && before[depth] !== name)
      if (before[depth] > name === sign > 0) return false;
    before[depth] = name;
  }
  return beside > 0;
}

for (const [tab, word] of [
  ["Call tree", "treeSort"],
  ["Bottom-up", "bottomUpSort"],
])
  visiting(`${tab}: heads sort siblings, by keys too; a link has the order`, async (visit) => {
    await visit.tab(tab).click();
    const tree = visit.page.getByRole("treegrid");
    const head = (name) => tree.getByRole("columnheader", { name });
    await tree.getByRole("row").nth(4).waitFor();
    await visit.settled();
    assert.equal(await head("total").getAttribute("aria-sort"), "descending");
    await head("function").getByRole("button").focus();
    await visit.page.keyboard.press("Enter");
    await visit.when(siblingsByName, 1);
    await visit.settled();
    assert.equal(await head("function").getAttribute("aria-sort"), "ascending");
    assert.equal(await head("total").getAttribute("aria-sort"), "none");
    await visit.page.keyboard.press("Enter");
    await visit.when(siblingsByName, -1);
    await visit.picture(`sorted ${tab}`);
    await visit.sameElsewhere(`${word}={"by":"name","ascending":false}`, tableShown);
    await visit.page.keyboard.press("Escape");
    await visit.when(siblingsByName, 1);
    await head("library").getByRole("button").click();
    await visit.when(
      () => document.querySelector(".head .library").getAttribute("aria-sort") === "ascending",
    );
    await visit.page.getByLabel("Group", { exact: true }).selectOption("library");
    if (tab === "Call tree") {
      await visit.when(() =>
        [...document.querySelectorAll(".row[aria-level='1'] bdi")].some((one) =>
          /^libc\b/.test(one.textContent),
        ),
      );
      await head("function").getByRole("button").click();
      await visit.when(siblingsByName, 1); // the libraries, too
    }
  });

visiting("a link shows what was zoomed to by hand, and Esc takes that back", async (visit) => {
  const drawn = () => document.querySelector(".boxes canvas").toDataURL();
  await visit.page.keyboard.press("u"); // its label tells samples
  await visit.when((all) => {
    const canvas = document.querySelector(".boxes canvas");
    return canvas?.getAttribute("aria-label").includes(` ${all} `);
  }, samples.toLocaleString("en-US"));
  await visit.settled();
  const whole = await visit.page.evaluate(drawn);
  await visit.page.mouse.move(300, 400);
  for (let i = 0; i < 3; i++) await visit.page.mouse.wheel(0, -300);
  await visit.when(
    (before) => document.querySelector(".boxes canvas").toDataURL() !== before,
    whole,
  );
  await visit.sameElsewhere("seen=", drawn);
  await visit.page.keyboard.press("Escape");
  await visit.when(
    (before) => document.querySelector(".boxes canvas").toDataURL() === before,
    whole,
  );
});

visiting("a link has the table's sort; where there is room, libraries are a column", async (visit) => {
  await visit.tab("Table").click();
  const grid = visit.page.getByRole("grid");
  await grid.getByRole("row").nth(4).waitFor();
  await visit.tab("Table").focus();
  await grid.getByRole("button", { name: "library" }).click();
  await visit.when(() => {
    const names = [...document.querySelectorAll(".row > .library")].map((one) => one.textContent);
    return names.every((name, i) => !i || names[i - 1] <= name);
  });
  await visit.sameElsewhere("tableSort", tableShown);
  const left = (kind) =>
    grid
      .locator(kind)
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  const columns = new Set([...(await left(".row > .library")), ...(await left(".head .library"))]);
  assert.equal(columns.size, 1, "one under the other, and under their head");
  await visit.picture("table by library");
  await visit.page.setViewportSize({ width: 1000, height: 700 });
  await visit.when(() => {
    const rows = [...document.querySelectorAll(".functions .row")];
    return rows.every((row) => {
      const [name, library] = [row.querySelector(".name bdi"), row.querySelector(".library")];
      return library.getBoundingClientRect().left - name.getBoundingClientRect().right < 8;
    });
  });
  await visit.picture("table by library, narrow");
});

/** Runs in the page: are there pixels of the baseline's colour in the curve? */
function baselineIsDrawn() {
  const canvas = document.querySelector(".overview canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    if (data[i] === 0x1a && data[i + 1] === 0x85 && data[i + 2] === 0x53) count++;
  return count > 20;
}

visiting("two windows are compared", async (visit) => {
  await visit.dragTime(0.05, 0.4);
  await visit.moreThan(0);
  await visit.page.keyboard.press("c");
  const overview = await visit.page.locator(".overview").boundingBox();
  const mark = await visit.page.locator(".baseline").boundingBox();
  const at = (part) => overview.x + 122 + part * (overview.width - 124);
  assert.ok(Math.abs(mark.x - at(0.05)) < 3 && Math.abs(mark.x + mark.width - at(0.4)) < 3);
  await visit.page.locator(".told", { hasText: "baseline" }).waitFor();
  await visit.dragTime(0.5, 0.95);
  const table = visit.page.getByRole("grid", { name: /before and now/ });
  await table.getByRole("row").nth(5).waitFor();
  assert.match(await table.getByRole("row").nth(1).innerText(), /[+−±]\d/);
  await table.getByRole("row").nth(1).click();
  await visit.page.locator("aside h2").waitFor();
  await visit.page.mouse.move(300, 400);
  await visit.picture("compare");
  await table.getByRole("button", { name: "function" }).click();
  await visit.when(
    () => document.querySelector(".below .head .name").getAttribute("aria-sort") === "ascending",
  );
  await visit.sameElsewhere("compareSort", tableShown);
});

for (const form of ["speedscope", "folded", "pprof", "cpusamples"])
  visiting(`${form}: what is saved has all samples, and is opened by drop`, async (visit) => {
    await visit.page.keyboard.press("u"); // the graph's label tells samples
    const file = await visit.saved(form);
    assert.match(file.name, /^python3/);
    await visit.drop(file, "shown");
    await visit.page.locator(".banner", { hasText: file.name }).waitFor();
    // Folded stacks are so much time each.
    const read = form === "folded" ? String(file.content).trim().split("\n").length : samples;
    await visit.exactly(read);
    await visit.when(
      (all) =>
        document.querySelector(".boxes canvas")?.getAttribute("aria-label").includes(` ${all} `),
      read.toLocaleString("en-US"),
    );
    await visit.button("Back to the program").click();
    await visit.page.locator(".banner", { hasText: file.name }).waitFor({ state: "detached" });
    await visit.exactly(samples);
  });

visiting(
  "a file is compared with what is shown: with itself nothing has changed",
  async (visit) => {
    const file = await visit.saved("cpusamples");
    await visit.drop(file, "compared");
    const table = visit.page.getByRole("grid", { name: /before and now/ });
    await table.getByRole("row").nth(3).waitFor();
    for (const row of (await table.getByRole("row").all()).slice(1))
      assert.match(await row.innerText(), /±0\.0/);
    await visit.page.locator(".told", { hasText: "baseline" }).waitFor();
    await visit.when(baselineIsDrawn);
    await visit.picture("compare_file");
    await visit.button("Remove the baseline").click();
    await visit.when(() => !document.querySelector(".told").textContent.includes("baseline"));
    assert.equal(await visit.page.evaluate(baselineIsDrawn), false);
    await visit.drop(await visit.saved("folded"), "compared");
    await visit.page.locator(".sides", { hasText: "no times" }).waitFor();
    await table.getByRole("row").nth(3).waitFor();
    assert.equal(await visit.page.evaluate(baselineIsDrawn), false);
  },
);

visiting("what cannot be opened is said to be so, and nothing else changes", async (visit) => {
  await visit.drop({ name: "x.txt", content: "hello" }, "shown");
  await visit.page.locator("footer", { hasText: "cannot open x.txt" }).waitFor();
  await visit.exactly(samples);
});

visiting("the picked stack is copied as text, outermost first", async (visit) => {
  await pickFunction(visit, "_PyPegen_run_parser_from_string");
  await visit.page.keyboard.press("y");
  await visit.when(async () =>
    (await navigator.clipboard.readText()).includes("_PyPegen_run_parser_from_string"),
  );
  const lines = (await visit.page.evaluate(() => navigator.clipboard.readText()))
    .trimEnd()
    .split("\n");
  assert.match(lines[0], /^_start/);
  assert.match(lines.at(-1), /^_PyPegen_run_parser_from_string  python3/);
});

visiting("the flame graph is saved as a picture", async (visit) => {
  const svg = (await visit.saved("SVG")).content.toString();
  assert.match(svg, /^<\?xml/);
  assert.match(svg, /<title>_start \(/);
  assert.doesNotMatch(svg, /oklch|<script|href=/);
  const png = (await visit.saved("PNG")).content;
  assert.deepEqual([...png.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  assert.ok(png.length > 5000, `${png.length} bytes`);
});

visiting("hostile, long and right-to-left names are text everywhere", async (visit) => {
  const names = [
    "<img src=x onerror=window.hacked=1>",
    "<script>window.hacked=1</script>",
    '"><svg onload=window.hacked=1>',
    "\u202e\u05d0\u05d1\u05d2 rtl",
    "n".repeat(2000),
    "javascript:window.hacked=1",
    "a;b{}</style>",
  ];
  const content = `${names.map((name) => name.replaceAll(";", ":")).join(";")} 9\n`;
  await visit.drop({ name: "<b>x.txt", content }, "shown");
  await visit.exactly(9);
  for (const tab of await visit.page.getByRole("tab").all()) {
    await tab.click();
    await visit.page.locator(".view > *").first().waitFor();
  }
  await visit.tab("Call tree").click();
  const row = visit.page.getByRole("treegrid").getByRole("row").nth(1);
  await row.filter({ hasText: "<img src=x onerror" }).waitFor();
  await row.click();
  await visit.page.locator("aside h2", { hasText: "<img" }).waitFor();
  await visit.page.fill("#search", "onerror");
  await visit.page.locator("#search").blur();
  await visit.picture("hostile");
  const { content: svg } = await visit.saved("SVG");
  assert.doesNotMatch(svg.toString(), /<img|<script/);
  assert.equal(await visit.page.locator("main img, aside script, .banner b b").count(), 0);
});

test("a request to another machine would be seen", async () => {
  const page = await browser.newPage();
  const wanted = "http://elsewhere.invalid/x";
  await page.evaluate((url) => fetch(url).catch(() => {}), wanted);
  assert.deepEqual(wantedElsewhere(), [wanted]);
  left.length = 0;
  await page.close();
});

/** By the search, as a user would. */
async function pickFunction(visit, name) {
  await visit.page.fill("#search", name);
  await visit.when(() => / %/.test(document.querySelector(".search output").textContent));
  await visit.page.locator("#search").blur();
  await visit.page.keyboard.press("]");
  await visit.page.locator("aside h2", { hasText: name }).waitFor();
  await visit.page.fill("#search", "");
  await visit.page.locator("#search").blur();
}

async function changedFrom(visit, label) {
  await visit.when(
    (before) => document.querySelector(".boxes canvas").getAttribute("aria-label") !== before,
    label,
  );
}
