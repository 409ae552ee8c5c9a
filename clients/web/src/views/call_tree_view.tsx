// The call tree of the selection, from the threads' first functions on.
import { useEffect, useState } from "preact/hooks";
import type { SearchResult } from "../worker/messages";
import { useAnswer } from "../state/answer";
import { keyOfFunction, look } from "../state/live";
import { select, selection } from "../state/selection";
import { Empty } from "./empty";
import { hotPath } from "./tree_open";
import { TreeTable } from "./tree_table";

export function CallTreeView({ search }: { search: SearchResult | null }) {
  const { unit, picked } = selection.value;
  // Rows keep their places while live where weights are close; by name a tree would hide its heavy part.
  const rows = useAnswer("tree", { ...look.value, order: "weight" });
  const [opened, setOpened] = useState<ReadonlySet<number> | null>(null);
  useEffect(() => {
    if (rows && rows.whole.samples && !opened) setOpened(new Set(hotPath(rows, 0)));
  }, [rows]);
  if (!rows) return null;
  if (!rows.whole.samples) return <Empty />;
  return (
    <TreeTable
      rows={rows}
      unit={unit}
      opened={opened ?? new Set()}
      setOpened={setOpened}
      picked={picked}
      onPick={(fn) => select({ picked: keyOfFunction(fn) })}
      search={search}
      label="Call tree"
      withSelf
    />
  );
}
