// The cases of tests/labels/colours.json: colours as every client gives them; and what colours are by.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { kindOf, packageOf } from "../../clients/web/src/data/colour_keys";
import { OTHERS, slotsOf } from "../../clients/web/src/data/colour_slots";
import { fill, theme } from "../../clients/web/src/views/parts/colours";

declare const TESTS: string;

interface Cases {
  palette: string[];
  others: string;
  slots: { self: Record<string, number>; slots: Record<string, number> }[];
  shades: [slot: number, name: string, step: number, colour: string][];
}

const cases: Cases = JSON.parse(readFileSync(join(TESTS, "labels/colours.json"), "utf8"));

test("libraries have the same colours as in all clients", () => {
  for (const { self, slots } of cases.slots)
    assert.deepEqual(Object.fromEntries(slotsOf(new Map(Object.entries(self)))), slots);
});

test("the palette and its shades are those of all clients", () => {
  cases.palette.forEach((colour, slot) => assert.equal(fill(slot, "library"), colour));
  assert.equal(fill(OTHERS, "library"), cases.others);
  for (const [slot, name, step, colour] of cases.shades)
    assert.equal(fill(slot, "library", name, step), colour);
});

type Triple = [number, number, number];
const times = (matrix: number[], [a, b, c]: Triple) =>
  [0, 3, 6].map((i) => matrix[i] * a + matrix[i + 1] * b + matrix[i + 2] * c) as Triple;

// How they are seen: by all cones, and without those for long, middle, short waves (Machado, Oliveira and
// Fernandes 2009), in linear sRGB.
const EYES = {
  all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

function linear(colour: string): Triple {
  return [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as Triple;
}

/** Where distances are as people see them (Ottosson 2020). */
function oklab(rgb: Triple): Triple {
  const inGamut = rgb.map((part) => Math.min(1, Math.max(0, part))) as Triple;
  const cones = times(
    [0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566, 0.0883024619, 0.2817188376, 0.6299787005],
    inGamut,
  ).map(Math.cbrt) as Triple;
  return times(
    [0.2104542553, 0.793617785, -0.0040720468, 1.9779984951, -2.428592205, 0.4505937099, 0.0259040371, 0.7827717662, -0.808675766],
    cones,
  );
}

for (const [eyes, least] of [["all", 0.14], ["protan", 0.075], ["deutan", 0.075], ["tritan", 0.05]] as const)
  test(`no two colours look alike (${eyes} cones)`, () => {
    const seen = [...cases.palette, cases.others].map((one) => oklab(times(EYES[eyes], linear(one))));
    seen.forEach((a, i) =>
      seen.slice(0, i).forEach((b, k) => {
        const apart = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        assert.ok(apart >= least, `${cases.palette[k]} and ${cases.palette[i]}: ${apart}`);
      }),
    );
  });

test("letters can be read on every colour, light and dark", () => {
  const luminance = (colour: string) => {
    const [red, green, blue] = linear(colour);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  for (const look of ["light", "dark"] as const) {
    theme.value = look;
    for (let slot = 0; slot <= OTHERS; slot++)
      for (const by of ["library", "heat"] as const) {
        const contrast = (luminance(fill(slot, by)) + 0.05) / (luminance("#14171a") + 0.05);
        assert.ok(contrast >= (look === "light" ? 4.5 : 3), `${look} ${by} ${slot}: ${contrast}`);
      }
  }
  theme.value = "light";
});

test("a package is the outermost namespace, and a library where there is none", () => {
  const library = { name: "libapp.so", path: "", system: false };
  const of = (name: string) =>
    packageOf({ name, library: 0, file: "", line: 0, kind: "Native" }, library);
  const cases = {
    "std::vector<int>::push_back": "std",
    "void geo::draw<int>(std::string const&)": "geo",
    "<alloc::vec::Vec<u8> as core::ops::Drop>::drop": "alloc",
    "core::fmt::write": "core",
    "(anonymous namespace)::help": "libapp.so",
    main: "libapp.so",
    "decode.constprop.0": "libapp.so",
    "libapp.so+0x1234": "libapp.so",
    "memcpy@@GLIBC_2.14": "libapp.so",
    "runtime.mallocgc": "runtime",
    "github.com/acme/tool/pkg.(*Reader).Read": "github.com/acme/tool/pkg",
    "std.stdio.writeln": "std",
    "com.acme.app.Main.run": "com.acme.app",
    "Lcom/acme/app/Main;::run": "com.acme.app",
    "py::parse:/usr/lib/python3.12/ast.py": "Python",
  };
  for (const [name, wanted] of Object.entries(cases)) assert.equal(of(name), wanted, name);
});

test("kinds of code have names", () => {
  const of = (kind: string, inlined = 0, name = "f", library = "app") =>
    kindOf({ name, library: 0, file: "", line: 0, kind }, { name: library, path: "", system: false }, inlined);
  assert.equal(of("Native"), "native");
  assert.equal(of("Native", 1), "inlined");
  assert.equal(of("Jit"), "JIT");
  assert.equal(of("Interpreted"), "interpreted");
  assert.equal(of("Jit", 0, "py::f:/a.py"), "interpreted");
  assert.equal(of("Native", 0, "f", "[kernel.kallsyms]"), "kernel");
  assert.equal(of("Unnamed"), "without a name");
});
