// Colours and their legend, what is folded, labels, and losses in proportion.
import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { test } from "node:test";
import { recordingOf } from "./recording.mjs";
import { busy } from "./service.mjs";
import { Visit } from "./visit.mjs";

const { browser, samples, service, visiting } = await recordingOf(busy(3));

/** [text, colour] of the legend. Runs in the page. */
const legend = () =>
  [...document.querySelectorAll(".legend button")].map((one) => [
    one.innerText.trim(),
    getComputedStyle(one.querySelector(".swatch")).backgroundColor,
  ]);

const colourBy = (visit, text) => visit.page.locator(".legend select").selectOption({ label: text });

visiting("the legend tells the share of each library, and no two have one colour", async (visit) => {
  await visit.when(() => document.querySelectorAll(".legend button").length > 1);
  await visit.settled();
  const entries = await visit.page.evaluate(legend);
  const shares = entries.map(([text]) => Number(/([\d.]+) %$/.exec(text)[1]));
  assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 100) < 1, String(shares));
  const own = entries.filter(([text]) => !/ others? /.test(text)).map(([, colour]) => colour);
  assert.equal(new Set(own).size, own.length);
  assert.match(entries[0][0], /^python3/);
});

visiting("a click on the legend filters, with Shift it adds, and once more it is all", async (visit) => {
  const entry = (at) => visit.page.locator(".legend button").nth(at);
  await entry(1).waitFor();
  await entry(1).click();
  await visit.when((all) => window.shownSamples() < all / 2, samples);
  const second = await visit.samples(); // it has settled
  assert.equal(await entry(1).getAttribute("aria-pressed"), "true");
  assert.equal(await entry(0).getAttribute("aria-pressed"), "false");
  await visit.page.locator(".crumbs .chip", { hasText: /^libraries: / }).waitFor();
  await entry(0).click({ modifiers: ["Shift"] });
  await visit.moreThan(second);
  await entry(0).click({ modifiers: ["Shift"] });
  await visit.exactly(second);
  await entry(1).click();
  await visit.exactly(samples);
});

visiting("colours stand for what was chosen, in the link too", async (visit) => {
  for (const [text, word, expected] of [
    ["by package", "package", /^python3/],
    ["by thread", "thread", /^python3 \(\d+\)$/],
    ["by kind of code", "kind", /^(native|inlined)$/],
  ]) {
    await colourBy(visit, text);
    await visit.when(
      (source) => new RegExp(source).test(document.querySelector(".legend bdi")?.innerText ?? ""),
      expected.source,
    );
    await visit.sameElsewhere(`colour=${word}`, legend);
  }
  await colourBy(visit, "by self time");
  await visit.page.locator(".legend span", { hasText: /% self$/ }).waitFor();
});

visiting("a click on a kind of code leaves its samples only", async (visit) => {
  await colourBy(visit, "by kind of code");
  const inlined = visit.page.locator(".legend button", { hasText: /^ ?inlined / });
  await inlined.or(visit.page.locator(".legend button", { hasText: /^ ?native / })).first().waitFor();
  await visit.page.locator(".legend button", { hasText: "native" }).click();
  await visit.page.locator(".crumbs .chip", { hasText: "kinds: native" }).waitFor();
});

visiting("rows of tables and the exported picture have the legend's colours", async (visit) => {
  await visit.when(() => document.querySelectorAll(".legend button").length > 1);
  await visit.settled();
  const [[, colour]] = await visit.page.evaluate(legend);
  await visit.tab("Table").click();
  await visit.when(
    (wanted) => {
      const row = [...document.querySelectorAll(".row")].find((one) =>
        one.querySelector(".library")?.innerText.startsWith("python3"),
      );
      return row && getComputedStyle(row.querySelector(".swatch")).backgroundColor === wanted;
    },
    colour,
  );
  const { content } = await visit.saved("SVG");
  const hex = colour.match(/\d+/g).map((part) => Number(part).toString(16).padStart(2, "0"));
  assert.match(String(content), new RegExp(`fill="#${hex.join("")}"/><text[^>]*>python3`));
});

visiting("nothing is folded unasked; a chip says what is, and how much of it", async (visit) => {
  assert.equal(await visit.page.locator(".crumbs .chip").count(), 0);
  await visit.tab("Table").click();
  const libraries = () =>
    [...document.querySelectorAll(".row > .library")].map(({ innerText }) => innerText);
  await visit.when(() => document.querySelectorAll(".row").length > 0);
  await visit.settled();
  const shown = await visit.page.evaluate(libraries);
  await visit.page.getByRole("combobox", { name: "Frames" }).selectOption("fold system");
  const chip = visit.page.locator(".crumbs .chip", { hasText: /folded: [\d.]+ % of self/ });
  await chip.waitFor();
  assert.ok(shown.some((name) => /^lib/.test(name)), String(shown));
  await chip.click();
  await visit.when(() => document.querySelectorAll(".crumbs .chip").length === 0);
});

const NARROW = { viewport: { width: 700, height: 600 } };

visiting("labels lose parameters, arguments and namespaces, and keep the name to hover", async (visit) => {
  const long = "geo::shapes::Circle<std::vector<double, std::allocator<double> > >::area(double) const";
  const folded = `main;${long} 3000\nmain;${"other;".repeat(3)}end 1\n`;
  await visit.drop({ name: "names.folded", content: folded }, "shown");
  await visit.exactly(3001);
  await visit.tab("Table").click();
  const cell = visit.page.locator(".row .name bdi", { hasText: /area$/ }).first();
  await cell.waitFor();
  assert.equal(await cell.getAttribute("title"), long);
  assert.match(await cell.innerText(), /^(geo::)?(shapes::)?(Circle::)?area$/);
}, NARROW);

/**
 * A way to the service on which a counter becomes another one of the same length. What may be its begin at the end
 * of a piece waits for the next.
 */
async function rewriting(uri, from, to) {
  assert.equal(from.length, to.length);
  const { port, pathname } = new URL(uri);
  const sockets = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port), "127.0.0.1");
    sockets.push(client, upstream);
    let kept = "";
    client.on("data", (piece) => {
      const own = `127.0.0.1:${server.address().port}`;
      const text = piece.toString("latin1").replaceAll(own, `127.0.0.1:${port}`);
      upstream.write(text, "latin1");
    });
    upstream.on("data", (piece) => {
      const text = (kept + piece.toString("latin1")).replaceAll(from, to);
      let tail = Math.min(text.length, from.length - 1);
      while (tail && !from.startsWith(text.slice(-tail))) tail--;
      kept = tail ? text.slice(-tail) : "";
      client.write(tail ? text.slice(0, -tail) : text, "latin1");
    });
    for (const [one, other] of [[client, upstream], [upstream, client]]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  server.unref(); // a test that fails ends too
  const end = () => {
    sockets.forEach((one) => one.destroy());
    server.close();
  };
  return { uri: `http://127.0.0.1:${server.address().port}${pathname}`, end };
}

const COUNTERS = '"lost_overrun":0,"lost_no_timer":0';

test("many lost samples are a banner that says why, what it means and what helps", async () => {
  const way = await rewriting(service.uri, COUNTERS, '"lost_overrun":99999,"lost_no_t":0');
  const visit = await Visit.of(browser, way.uri);
  await visit.exactly(samples);
  const banner = visit.page.locator(".banner.losses");
  await banner.waitFor();
  assert.match(await banner.innerText(), /^9\d\.\d % of all samples were lost \(99,999\)/);
  await banner.getByText("why?").click();
  const told = await banner.locator("dl").innerText();
  assert.match(told, /99,999 \(9\d\.\d %\): A thread ran without being interrupted/);
  assert.match(told, /next sample stands for the time in between/);
  assert.match(told, /Remedy: /);
  assert.equal(await visit.page.locator("footer .losses").count(), 0);
  await visit.picture("losses");
  await visit.close();
  way.end();
});

test("few lost samples are a quiet word in the status line, with the same answers", async () => {
  const way = await rewriting(service.uri, COUNTERS, '"lost_overrun":2,"lost_no_timer":0');
  const visit = await Visit.of(browser, way.uri);
  await visit.exactly(samples);
  const word = visit.page.locator("footer .losses");
  await word.waitFor();
  assert.match(await word.innerText(), /^2 samples lost \((under )?0\.\d %\)/);
  await word.getByText("why?").click();
  assert.match(await word.locator("dl").innerText(), /Remedy: /);
  assert.equal(await visit.page.locator(".banner.losses").count(), 0);
  await visit.close();
  way.end();
});
