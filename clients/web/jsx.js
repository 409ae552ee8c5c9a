// What elements are made by, for build.mjs: calls of h pack smaller than those of preact/jsx-runtime, by 0.8 KB.
export { Fragment, h } from "preact";
