"use strict";
// Draws the boxes of #data on a canvas. A box is a number; data.boxes has a column for each property.
// Box 0 is all; callers come before callees, and what is at the left before what is at the right.
// view: what of the whole the width of the canvas shows, in the data's unit.

const data = JSON.parse(document.getElementById("data").textContent);
const { name, row, start, width, self } = data.boxes;
const inlined = new Set(data.boxes.inlined);
const count = name.length, total = width[0];
const ROW = 18, NARROWEST = 0.5, FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, monospace';

const byId = (id) => document.getElementById(id);
const canvas = byId("graph"), pen = canvas.getContext("2d"), tip = byId("tip");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// The boxes of each row, from left to right.
const rows = [];
for (let box = 0; box < count; box++) (rows[row[box]] ||= []).push(box);

let view = { from: 0, to: total }, zoomed = 0, chosen = -1, hovered = -1, matches = null, frame = 0;

const NAME = 0, FULL = 1, LIBRARY = 2, WHERE = 3, COLOURS = 4, SHORTER = 5;
const named = (box) => data.names[name[box]];
const end = (box) => start[box] + width[box];

// The first place in a row whose box ends after that.
function firstAfter(boxes, at) {
  let low = 0, high = boxes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end(boxes[middle]) > at) high = middle; else low = middle + 1;
  }
  return low;
}

function boxAt(level, at) {
  const boxes = rows[level];
  if (!boxes) return -1;
  const box = boxes[firstAfter(boxes, at)];
  return box !== undefined && start[box] <= at ? box : -1;
}

const callerOf = (box) => (box > 0 ? boxAt(row[box] - 1, start[box]) : -1);

function share(value, of = total) {
  return of ? `${(100 * value / of).toFixed(value && value / of < 0.001 ? 3 : 1)} %` : "0 %";
}

function amount(value) {
  if (data.unit === "samples") return `${value.toLocaleString("en")} sample${value === 1 ? "" : "s"}`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} s`;
  return value >= 1e3 ? `${(value / 1e3).toFixed(1)} ms` : `${value} us`;
}

// The more of a box is its own, the stronger.
function fillOf(box) {
  const colours = named(box)[COLOURS];
  return colours[Math.floor((colours.length - 1) * self[box] / (width[box] || 1) + 0.5)];
}

// The longest of its names that fits, else the right end of the shortest.
function label(box, letters) {
  const names = [named(box)[NAME], ...named(box)[SHORTER]];
  return names.find(({ length }) => length <= letters) ?? `…${names.at(-1).slice(1 - letters)}`;
}

function draw() {
  frame = 0;
  const dense = devicePixelRatio || 1, wide = canvas.clientWidth;
  const pixels = [Math.round(wide * dense), Math.round(rows.length * ROW * dense)];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.clearRect(0, 0, wide, rows.length * ROW);
  pen.font = FONT;
  pen.textBaseline = "middle";
  const letter = pen.measureText("m").width, scale = wide / Math.max(view.to - view.from, 1e-9);
  rows.forEach((boxes, level) => drawRow(boxes, level, scale, wide, letter));
  for (const [box, line] of [[hovered, 1.5], [chosen, 2.5]]) if (box >= 0) outline(box, scale, wide, line);
}

function drawRow(boxes, level, scale, wide, letter) {
  const y = level * ROW;
  for (let at = firstAfter(boxes, view.from); at < boxes.length; at++) {
    const box = boxes[at];
    if (start[box] >= view.to) break;
    const hit = matches && matches.has(box); // what is found shows, however narrow it is
    if (width[box] * scale < NARROWEST && !hit) continue;
    const left = Math.max((start[box] - view.from) * scale, 0);
    const right = Math.min((end(box) - view.from) * scale, wide);
    const shown = Math.max(right - left - 0.7, hit ? 2 * NARROWEST : NARROWEST);
    const around = level < row[zoomed];
    pen.globalAlpha = matches && !hit ? 0.25 : around ? 0.6 : 1;
    pen.fillStyle = hit ? "#c04df0" : fillOf(box);
    pen.fillRect(left, y, shown, ROW - 1);
    const letters = Math.floor((shown - 6) / letter);
    if (letters < 3) continue;
    pen.globalAlpha = 1;
    pen.fillStyle = hit ? "#ffffff" : matches ? getComputedStyle(document.body).color : "#141414";
    pen.fillText(label(box, letters), left + 3, y + ROW / 2);
  }
  pen.globalAlpha = 1;
}

function outline(box, scale, wide, line) {
  const left = Math.max((start[box] - view.from) * scale, 0);
  const right = Math.min((end(box) - view.from) * scale, wide);
  if (right <= left) return;
  pen.strokeStyle = getComputedStyle(document.body).color;
  pen.lineWidth = line;
  pen.strokeRect(left + line / 2, row[box] * ROW + line / 2, Math.max(right - left - line, 1), ROW - 1 - line);
}

function redraw() {
  frame ||= requestAnimationFrame(draw);
}

function zoom(box) {
  zoomed = box;
  byId("reset").disabled = box === 0;
  const from = { ...view }, to = { from: start[box], to: end(box) }, began = performance.now();
  const step = (now) => {
    const part = calm.matches ? 1 : Math.min((now - began) / 160, 1), soft = 1 - (1 - part) ** 3;
    view = { from: from.from + (to.from - from.from) * soft, to: from.to + (to.to - from.to) * soft };
    draw();
    if (part < 1 && zoomed === box) requestAnimationFrame(step);
  };
  step(began);
  count_found();
}

// What is found, and the share of those boxes that stand in no other one of them.
let wanted = null;
function search(text) {
  const found = byId("found");
  found.className = "";
  wanted = null;
  if (text) {
    const pattern = /^\/(.+)\/$/.exec(text);
    try {
      const test = pattern ? new RegExp(pattern[1], "i") : null, low = text.toLowerCase();
      wanted = data.names.map(([short, full]) =>
        test ? test.test(short) || test.test(full) : `${short}\n${full}`.toLowerCase().includes(low));
    } catch (error) {
      found.className = "bad";
      found.textContent = `No regular expression: ${error.message}`;
    }
  }
  matches = wanted && new Set();
  if (wanted) for (let box = 1; box < count; box++) if (wanted[name[box]]) matches.add(box);
  if (wanted || !text) count_found();
  redraw();
}

function count_found() {
  if (!wanted) {
    if (byId("found").className !== "bad") byId("found").textContent = "";
    return;
  }
  const functions = new Set(), from = start[zoomed], to = end(zoomed);
  let sum = 0, until = from;
  // Callers come before callees, and boxes from left to right: what begins before that is inside.
  for (let box = 1; box < count; box++) {
    if (!matches.has(box) || end(box) <= from || start[box] >= to) continue;
    functions.add(name[box]);
    if (start[box] >= until) {
      until = Math.min(end(box), to);
      sum += until - Math.max(start[box], from);
    } else if (start[box] < from) {
      sum = to - from;
      until = to;
    }
  }
  const where = zoomed ? `, ${share(sum, to - from)} of what is shown` : "";
  const functionWord = functions.size === 1 ? "function" : "functions";
  byId("found").textContent = functions.size
    ? `${share(sum)} of all${where}: ${amount(sum)} in ${functions.size} ${functionWord}`
    : "Nothing is called so.";
}

function facts(box) {
  const [, , library, where] = named(box), caller = callerOf(box);
  const lines = [];
  if (library) lines.push(library);
  if (where) lines.push(where);
  if (inlined.has(box)) lines.push("inlined into its caller");
  let shares = `total ${share(width[box])}, ${amount(width[box])}`;
  if (caller > 0) shares += `, ${share(width[box], width[caller])} of its caller`;
  lines.push(shares, `self ${share(self[box])}, ${amount(self[box])}`);
  return lines;
}

const longName = (box) => named(box)[FULL] || named(box)[NAME];

function tell(box) {
  byId("details").textContent = box < 0 ? "Point at a box to see what it is."
    : [longName(box), ...facts(box)].join(" · ");
}

function hover(box, x, y) {
  tip.hidden = box < 0;
  if (box !== hovered) {
    hovered = box;
    tell(box < 0 ? chosen : box);
    tip.replaceChildren();
    if (box >= 0) {
      const title = document.createElement("b");
      title.textContent = longName(box);
      tip.append(title, ...facts(box).map((line) => {
        const part = document.createElement("div");
        part.textContent = line;
        return part;
      }));
    }
    redraw();
  }
  if (box < 0) return;
  const beside = x + 16 + tip.offsetWidth > innerWidth ? innerWidth - tip.offsetWidth - 8 : x + 16;
  const below = y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 12 : y + 18;
  tip.style.left = `${Math.max(beside, 8)}px`;
  tip.style.top = `${Math.max(below, 8)}px`;
}

function boxUnder(event) {
  const area = canvas.getBoundingClientRect();
  const at = view.from + (event.clientX - area.left) / area.width * (view.to - view.from);
  return boxAt(Math.floor((event.clientY - area.top) / ROW), at);
}

function choose(box) {
  if (box < 0) return;
  chosen = box;
  tell(box);
  const area = canvas.getBoundingClientRect(), top = area.top + row[box] * ROW;
  const head = document.querySelector("header").offsetHeight;
  const foot = innerHeight - document.querySelector("footer").offsetHeight - ROW;
  if (top < head) scrollBy(0, top - head - ROW);
  else if (top > foot) scrollBy(0, top - foot + ROW);
  redraw();
}

function beside(box, step) {
  const boxes = rows[row[box]], next = boxes[boxes.indexOf(box) + step];
  return next !== undefined && start[next] < view.to && end(next) > view.from ? next : -1;
}

// Of the callees the widest, which is the leftmost.
function below(box) {
  const boxes = rows[row[box] + 1];
  if (!boxes) return -1;
  const callee = boxes[firstAfter(boxes, start[box])];
  return callee !== undefined && start[callee] < end(box) ? callee : -1;
}

const KEYS = {
  ArrowDown: () => choose(chosen < 0 ? zoomed : below(chosen)),
  ArrowUp: () => choose(callerOf(chosen)),
  ArrowLeft: () => chosen >= 0 && choose(beside(chosen, -1)),
  ArrowRight: () => chosen >= 0 && choose(beside(chosen, 1)),
  Enter: () => chosen >= 0 && zoom(chosen),
  Backspace: () => zoomed && zoom(callerOf(zoomed)),
};

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== byId("search")) {
    event.preventDefault();
    byId("search").focus();
  } else if (event.key === "Escape") {
    byId("search").value = "";
    search("");
    zoom(0);
    canvas.focus({ preventScroll: true });
  }
});
canvas.addEventListener("pointermove", (event) => hover(boxUnder(event), event.clientX, event.clientY));
canvas.addEventListener("pointerleave", () => hover(-1));
canvas.addEventListener("click", (event) => {
  const box = boxUnder(event);
  if (box < 0) return;
  choose(box);
  zoom(box);
});
byId("search").addEventListener("input", (event) => search(event.target.value.trim()));
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
byId("reset").addEventListener("click", () => zoom(0));
byId("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  redraw();
});

byId("legend").append(Object.assign(document.createElement("li"), { textContent: "Self by library:" }));
for (const [library, own, colour] of [...data.legend, ["others", null, data.others]]) {
  const entry = document.createElement("li"), mark = document.createElement("i");
  mark.style.background = colour;
  entry.append(mark, own === null ? library : `${library} ${share(own)}`);
  byId("legend").append(entry);
}
byId("reset").disabled = true;
canvas.style.height = `${rows.length * ROW}px`;
new ResizeObserver(redraw).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
draw();
