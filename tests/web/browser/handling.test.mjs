// How the page is handled: menus on frames, Back and Forward, the focus, tips, the list of hits, the tab.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingOf } from "./recording.mjs";
import { busy, Service, workload } from "./service.mjs";

const { samples, visited, visiting } = await recordingOf(busy(2));
const FUNCTION = "_PyPegen_run_parser_from_string";

/** Picks it in the table, and opens its menu there. */
async function menuOn(visit, name) {
  await visit.page.fill("#search", `^${name}$`);
  if ((await visit.button(".*").getAttribute("aria-pressed")) === "false")
    await visit.button(".*").click();
  await visit.tab("Table").click();
  const row = visit.page.getByRole("grid").getByRole("row").filter({ hasText: name }).first();
  await row.click({ button: "right" });
  const menu = visit.page.getByRole("menu", { name: "Frame" });
  await menu.waitFor();
  await visit.page.locator("aside h2", { hasText: name }).waitFor();
  return menu;
}

const chip = (visit, text) => visit.page.locator(".crumbs .chip", { hasText: text });

visiting("a right click on a frame of the flame graph opens its menu there", async (visit) => {
  const canvas = visit.page.locator(".boxes canvas");
  await visit.page.locator(".banner").waitFor(); // it moves what is below
  const { x, y } = await visit.place(canvas);
  await visit.page.mouse.click(x + 300, y + 70, { button: "right" });
  const menu = visit.page.getByRole("menu", { name: "Frame" });
  await menu.waitFor();
  await visit.page.locator("aside h2").waitFor();
  const name = await visit.text("aside h2");
  await visit.picture("menu");
  const box = await visit.place(menu);
  assert.ok(box.y + box.height <= 800 && box.x + box.width <= 1280, "it is in the window");
  await visit.page.keyboard.press("Escape");
  await menu.waitFor({ state: "detached" });
  assert.equal(await visit.text("aside h2"), name, "Esc closes the menu alone");

  await visit.page.mouse.click(x + 300, y + 70, { button: "right" });
  await menu.getByRole("menuitem", { name: /^Zoom to this frame/ }).click();
  await visit.page.locator(".crumbs").getByRole("button", { name, exact: true }).waitFor();
  await visit.page.mouse.dblclick(x + 300, y + 130);
  await visit.when(() => document.querySelectorAll(".crumbs button[dir]").length >= 4);
});

visiting("the menu focuses, merges, hides and collapses, and each is a chip", async (visit) => {
  for (const [item, text] of [
    [/^Focus on function/, `only ${FUNCTION}`],
    [/^Merge into caller/, `${FUNCTION} merged into callers`],
    [/^Hide: leave out/, `${FUNCTION} hidden`],
    [/^Collapse its recursion/, `recursion of ${FUNCTION} collapsed`],
  ]) {
    const menu = await menuOn(visit, FUNCTION);
    await menu.getByRole("menuitem", { name: item }).click();
    await chip(visit, text).waitFor();
    await chip(visit, text).click();
    await chip(visit, text).waitFor({ state: "detached" });
  }
});

visiting("what is hidden is left out, with what called it", async (visit) => {
  await visit.tab("Table").click();
  await visit.page.getByRole("grid").getByRole("row").nth(2).waitFor();
  const menu = await menuOn(visit, FUNCTION);
  await menu.getByRole("menuitem", { name: /^Hide/ }).click();
  await visit.page.fill("#search", "");
  await visit.tab("Flame").click();
  await visit.page.keyboard.press("u");
  await visit.when((all) => {
    const label = document.querySelector(".boxes canvas")?.getAttribute("aria-label") ?? "";
    const shown = Number(/([\d,]+) samples/.exec(label)?.[1].replaceAll(",", "") ?? all);
    return shown < all;
  }, samples);
});

visiting("the menu groups, copies, searches, and is gone through by keys", async (visit) => {
  let menu = await menuOn(visit, FUNCTION);
  await menu.getByRole("menuitemradio", { name: /By library/ }).click();
  await visit.when(() => document.querySelector("[aria-label=Group]").value === "library");
  menu = await menuOn(visit, FUNCTION);
  assert.equal(
    await menu.getByRole("menuitemradio", { name: /By library/ }).getAttribute("aria-checked"),
    "true",
  );
  await menu.getByRole("menuitem", { name: "Copy name" }).click();
  await visit.when(async (name) => (await navigator.clipboard.readText()) === name, FUNCTION);
  menu = await menuOn(visit, FUNCTION);
  await visit.page.keyboard.press("End");
  await visit.page.keyboard.press("Enter");
  await visit.when((name) => document.querySelector("#search").value === name, FUNCTION);
  await menu.waitFor({ state: "detached" });
});

visiting("Back and Forward undo and redo, and Esc goes back", async (visit) => {
  for (const name of ["Chart", "Table", "Bottom-up"]) {
    await visit.tab(name).click();
    await visit.shows(name);
  }
  await visit.page.goBack();
  await visit.shows("Table");
  await visit.page.goBack();
  await visit.shows("Chart");
  await visit.page.goForward();
  await visit.shows("Table");
  await visit.page.goForward();
  await visit.shows("Bottom-up");
  await visit.page.keyboard.press("Escape");
  await visit.shows("Table");
  await visit.tab("Source").click(); // what was undone is no more
  await visit.shows("Source");
  await visit.page.goBack();
  await visit.shows("Table");
  await visit.page.reload();
  await visit.exactly(samples);
  await visit.page.goBack();
  await visit.shows("Chart"); // also behind a reload
  await visit.page.keyboard.press("Escape");
});

visiting("a drag over time is one step back", async (visit) => {
  await visit.tab("Table").click();
  await visit.dragTime(0.2, 0.6);
  await visit.when((all) => window.shownSamples() < all, samples);
  await visit.page.goBack();
  await visit.exactly(samples);
  await visit.shows("Table");
  await visit.page.goForward();
  await visit.when((all) => window.shownSamples() < all, samples);
});

visiting("few Tab presses lead to the view; arrows go within a row of controls", async (visit) => {
  await visit.page.locator(".boxes canvas").waitFor();
  let presses = 0;
  for (let isThere = false; !isThere && presses < 30; presses++) {
    await visit.page.keyboard.press("Tab");
    isThere = await visit.page.evaluate(() => document.activeElement.matches(".boxes canvas"));
  }
  assert.ok(presses <= 10, `${presses} presses`);
  await visit.tab("Flame").focus();
  await visit.page.keyboard.press("ArrowRight");
  await visit.shows("Chart");
  await visit.page.keyboard.press("End");
  await visit.shows("Stalls");
  await visit.page.keyboard.press("Home");
  await visit.shows("Flame");
  await visit.button("Filter…").focus();
  await visit.page.keyboard.press("ArrowRight");
  for (const control of ["SELECT", "SELECT", "BUTTON"]) {
    assert.equal(await visit.page.evaluate(() => document.activeElement.tagName), control);
    await visit.page.keyboard.press("ArrowRight");
  }
});

visiting("each pane has a key, F6 goes through them, and / works from anywhere", async (visit) => {
  const on = (selector) => visit.when((wanted) => document.activeElement.matches(wanted), selector);
  await visit.page.keyboard.press("v");
  await on(".boxes canvas");
  await visit.page.keyboard.press("o");
  await on("#overview");
  await visit.page.keyboard.press("F6");
  await on("[role=tab]");
  await visit.page.keyboard.press("F6");
  await on(".boxes canvas");
  await visit.page.keyboard.press("F6");
  await on("#side");
  await visit.page.keyboard.press("F6");
  await on("#search");
  await visit.page.keyboard.press("F6");
  await on("#overview");
  await visit.page.getByLabel("Group", { exact: true }).focus();
  await visit.page.keyboard.press("/");
  await on("#search");
  await visit.page.locator("#search").blur();
  await visit.page.keyboard.press("?");
  await visit.page.getByRole("dialog", { name: "Keys" }).waitFor();
  await visit.page.keyboard.press("/");
  await on("#search");
  assert.equal(await visit.page.locator("dialog[open]").count(), 0);
});

visiting("a tip leaves when what is below it does, and stands beside the pointer", async (visit) => {
  const canvas = visit.page.locator(".boxes canvas");
  await visit.page.locator(".banner").waitFor(); // it moves what is below
  const { x, y, width } = await visit.place(canvas);
  await visit.page.mouse.move(x + 0.7 * width, y + 10);
  const tip = visit.page.locator(".tip");
  await tip.waitFor();
  const box = await tip.boundingBox();
  assert.ok(box.x >= x + 0.7 * width, "where there is room, right of the pointer");
  await visit.page.keyboard.press("5");
  await tip.waitFor({ state: "detached" });
  await visit.page.keyboard.press("1");
  await canvas.waitFor();
  assert.equal(await tip.count(), 0);
  await visit.page.mouse.move(x + 0.7 * width, y + 12);
  await tip.waitFor();
  await visit.page.keyboard.press("?");
  await tip.waitFor({ state: "detached" });
});

visiting("search lists what it finds with shares, and keys and clicks pick from it", async (visit) => {
  await visit.page.keyboard.press("/");
  await visit.page.keyboard.type("rule");
  const options = visit.page.getByRole("listbox", { name: "Matching functions" }).getByRole("option");
  await options.first().waitFor();
  await visit.settled();
  assert.match(await options.first().innerText(), /^~?[\d.]+ %\s+\S*rule/);
  const shares = (await options.locator(".number").allInnerTexts()).map((one) =>
    Number(/[\d.]+/.exec(one)[0]),
  );
  assert.deepEqual(shares, [...shares].sort((a, b) => b - a), "heaviest first");
  await visit.picture("hits");
  await visit.page.keyboard.press("ArrowDown");
  await visit.page.keyboard.press("ArrowDown");
  const second = await options.nth(1).locator("bdi").first().innerText();
  await visit.page.locator("aside h2").getByText(second, { exact: true }).waitFor();
  await visit.settled();
  assert.equal(await options.nth(1).getAttribute("aria-selected"), "true");
  const third = await options.nth(2).locator("bdi").first().innerText();
  await options.nth(2).click();
  await visit.page.locator("aside h2").getByText(third, { exact: true }).waitFor();
  await visit.page.locator("#search").blur();
  await visit.page.getByRole("listbox").waitFor({ state: "detached" });
});

visiting("what is picked by search comes into sight in the flame graph", async (visit) => {
  await visit.page.keyboard.press("/");
  await visit.page.keyboard.type("_PyPegen_run_parser_from_string");
  await visit.page.locator(".hits [role=option]").first().waitFor();
  const drawn = () => document.querySelector(".boxes canvas").toDataURL();
  await visit.page.keyboard.press("Enter");
  await visit.page.locator("aside h2", { hasText: FUNCTION }).waitFor();
  // Far out of sight: scrolled down in a small window.
  await visit.page.setViewportSize({ width: 1280, height: 420 });
  await visit.page.fill("#search", "_PyPegen_expect_token");
  // Until then those of the search before are there.
  await visit.page.locator(".hits [role=option]", { hasText: "expect_token" }).first().waitFor();
  await visit.settled();
  const before = await visit.page.evaluate(drawn);
  await visit.page.keyboard.press("Enter");
  await visit.page.locator("aside h2", { hasText: "_PyPegen_expect_token" }).waitFor();
  await visit.when((was) => document.querySelector(".boxes canvas").toDataURL() !== was, before);
});

/** Types over the search, and presses the keys in the same turn: the worker cannot have answered between. */
function typeAndPress(visit, typed) {
  return visit.page.evaluate((all) => {
    const input = document.getElementById("search");
    for (const { text, keys } of all) {
      input.focus();
      input.value = text;
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
      for (const key of keys) {
        if (/[[\]]/.test(key)) input.blur(); // it would be typed
        const at = document.activeElement;
        at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      }
    }
  }, typed);
}

visiting("keys that are pressed before the hits of what is typed are there wait for these", async (visit) => {
  const heading = visit.page.locator("aside h2");
  const options = visit.page.locator(".hits [role=option]");
  await visit.page.locator(".boxes canvas").waitFor();
  await visit.page.keyboard.press("/");
  // There is no list yet.
  await typeAndPress(visit, [{ text: "_PyPegen_run_parser_from_string", keys: ["Enter"] }]);
  await heading.getByText(FUNCTION, { exact: true }).waitFor();
  // There is that of the search before.
  await typeAndPress(visit, [{ text: "_PyPegen_expect_token", keys: ["Enter"] }]);
  await heading.getByText("_PyPegen_expect_token", { exact: true }).waitFor();
  await typeAndPress(visit, [{ text: "rule", keys: ["ArrowDown", "ArrowDown"] }]);
  const second = options.and(visit.page.locator("[aria-selected=true]"));
  await second.filter({ hasText: "rule" }).waitFor();
  await visit.settled();
  assert.equal(await options.nth(1).getAttribute("aria-selected"), "true");
  const name = await options.nth(1).locator("bdi").first().innerText();
  await heading.getByText(name, { exact: true }).waitFor();
  // By the text that stands there in the end, and outside of the list.
  await typeAndPress(visit, [
    { text: FUNCTION, keys: ["Enter"] },
    { text: "_PyPegen_expect_token", keys: ["]"] },
  ]);
  await heading.getByText("_PyPegen_expect_token", { exact: true }).waitFor();
});

visiting("a key that waits for hits is dropped when another text is typed", async (visit) => {
  await visit.page.fill("#search", "_PyPegen_expect_token");
  const options = visit.page.locator(".hits [role=option]");
  await options.filter({ hasText: "expect_token" }).first().waitFor();
  await typeAndPress(visit, [
    { text: "rule", keys: ["Enter"] },
    { text: FUNCTION, keys: [] },
  ]);
  await options.filter({ hasText: FUNCTION }).first().waitFor();
  await visit.settled();
  const heading = visit.page.locator("aside h2");
  assert.deepEqual(await heading.allInnerTexts(), [], "nothing is picked");
  await visit.page.keyboard.press("Enter");
  await heading.getByText(FUNCTION, { exact: true }).waitFor();
});

visiting("the flame graph is inverted, as its link says, and turned over", async (visit) => {
  const canvas = visit.page.locator(".boxes canvas");
  await canvas.waitFor();
  const first = () => document.querySelector(".boxes canvas [aria-level='1']")?.textContent ?? "";
  await visit.button("Inverted").click();
  await visit.when(() =>
    document.querySelector(".boxes canvas").getAttribute("aria-label").startsWith("Inverted"),
  );
  await canvas.focus();
  await visit.page.keyboard.press("ArrowDown");
  await visit.when(() => document.querySelector(".boxes canvas [aria-level='1']") !== null);
  assert.doesNotMatch(await visit.page.evaluate(first), /^_start/);
  await visit.picture("inverted");
  await visit.sameElsewhere("inverted=true", () =>
    document.querySelector(".boxes canvas").getAttribute("aria-label"),
  );
  await visit.page.keyboard.press("i");
  await visit.when(() =>
    document.querySelector(".boxes canvas").getAttribute("aria-label").startsWith("Flame"),
  );
  await visit.button("First row on top").click();
  await visit.button("First row below").waitFor();
});

test("title and icon tell tabs apart, and whether something is recorded", () =>
  visited(Service.of(["/usr/bin/python3", "-c", "while True: pass"]), async (visit, live) => {
    await visit.when(() => /^python3\S*: Recording · isoscope$/.test(document.title));
    const icon = () => document.querySelector("link[rel=icon]").href;
    await visit.settled();
    const recording = await visit.page.evaluate(icon);
    assert.match(recording, /^data:image\/svg\+xml,.*circle/);
    live.killProgram();
    await visit.when(() => document.title.includes(": Ended by SIGKILL"));
    await visit.when(() => !/circle/.test(document.querySelector("link[rel=icon]").href));
  }));

visiting("user tags are offered only where a program has set some", async (plain) => {
  const groups = plain.page.getByLabel("Group", { exact: true }).locator("option");
  assert.ok(!(await groups.allInnerTexts()).some((text) => /tag/.test(text)));
  await plain.page.keyboard.press("t");
  await plain.page.getByText("Library of the leaf").waitFor();
  await plain.settled();
  assert.equal(await plain.page.getByText("User tag", { exact: true }).count(), 0);
  await visited(Service.ended(workload("cooperates", "tags", "1")), async (visit) => {
    await visit.moreThan(0);
    await visit.page.keyboard.press("t");
    await visit.page.getByText("User tag", { exact: true }).waitFor();
  });
});
