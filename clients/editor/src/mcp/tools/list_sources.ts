import { tool } from "../facts/tool";

export const listSources = tool({
  name: "list_sources",
  title: "Profiles that can be read",
  description:
    "Running services and saved sessions, by the id that the other tools take as source. state says whether a service answers.",
  input: {},
  async answer(_args, { sources }) {
    const all = await sources.probed();
    return {
      facts: { sources: all.length },
      unsure: [],
      columns: ["source", "kind", "state"],
      rows: all.map(({ id, kind, trouble }) => [id, kind, trouble || "ready"]),
    };
  },
});
