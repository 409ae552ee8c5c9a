/** What editors may ask the server to do, by workspace/executeCommand. */
export const COMMANDS = {
  attach: "isoscope.attach", // a URI, an info file or a session; nothing: the one that is chosen of those that run
  run: "isoscope.run", // the name of a launch entry, or one itself
  stop: "isoscope.stop", // ends the program that was run
  window: "isoscope.window", // seconds since the first sample, from and to; nothing: all
  compare: "isoscope.compare", // a session or a service; nothing: the run before
  clear: "isoscope.clear", // forgets all samples
  openPage: "isoscope.openPage", // the page, of a function's key
  export: "isoscope.export", // a file to write; a format of `isoscope export`, or nothing: what its name ends with; a profile's file, or nothing: what is shown
  status: "isoscope.status", // what is shown, in words
  services: "isoscope.services", // those that run
} as const;
