// The tree upside down: where the time is spent, and below it, who called that.
import { useState } from "preact/hooks";
import type { SearchResult } from "../worker/messages";
import { useAnswer } from "../state/answer";
import { keyOfFunction, look } from "../state/live";
import { select, selection } from "../state/selection";
import { Empty } from "./empty";
import { TreeTable } from "./tree_table";

export function BottomUpView({ search }: { search: SearchResult | null }) {
  const { unit, picked, bottomUpSort: sort } = selection.value;
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const rows = useAnswer("bottomUp", { ...look.value, opened: [...opened], sort, unit });
  if (!rows) return null;
  if (!rows.whole.samples) return <Empty />;
  return (
    <TreeTable
      rows={rows}
      sorted="bottomUpSort"
      unit={unit}
      opened={opened}
      setOpened={setOpened}
      picked={picked}
      onPick={(fn) => select({ picked: keyOfFunction(fn) })}
      search={search}
      label="Bottom-up"
      withSelf={false}
    />
  );
}
