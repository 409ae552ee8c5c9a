// A tree as a table: only the rows in sight are elements. What is opened is known by keys, so it stays
// open when the data change. It is also what those have who do not see the flame graph.
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { ROOT_KEY, type TreeRows } from "../data/tree_rows";
import type { SearchResult, SortedRows, Unit } from "../worker/messages";
import { keyOfFunction, nameOf } from "../state/live";
import { copyTable } from "./aligned";
import { FunctionName, Share, Weight, weightText } from "./cells";
import { percent } from "./format";
import { Head, type Sorted, weightHeadings } from "./head";
import { ROW_PX, useRowsInSight } from "./rows_in_sight";
import { hotPath, visibleRows, type Visible } from "./tree_open";

export interface TreeTableProps {
  rows: SortedRows;
  sorted: Sorted;
  unit: Unit;
  opened: ReadonlySet<number>;
  setOpened(opened: ReadonlySet<number>): void;
  picked: string;
  onPick(fn: number): void;
  search: SearchResult | null;
  label: string;
  withSelf: boolean; // false: a row has none of its own
}

interface Numbers {
  self: Float64Array;
  total: Float64Array;
  whole: number;
}

function numbersOf(rows: TreeRows, unit: Unit): Numbers {
  return unit === "samples"
    ? { self: rows.self, total: rows.total, whole: rows.whole.samples }
    : { self: rows.selfTime_ns, total: rows.totalTime_ns, whole: rows.whole.time_ns };
}

export function TreeTable(props: TreeTableProps) {
  const { rows, opened, setOpened } = props;
  const [current, setCurrent] = useState(ROOT_KEY);
  const visible = useMemo(() => visibleRows(rows, opened), [rows, opened]);
  const id = useId();
  const sight = useRowsInSight(visible.length);
  const at = Math.max(
    0,
    visible.findIndex(({ row }) => rows.key[row] === current),
  );
  const open = (row: number, on: boolean) => {
    const next = new Set(opened);
    if (on) next.add(rows.key[row]);
    else next.delete(rows.key[row]);
    setOpened(next);
  };
  const go = (index: number) => {
    const target = visible[Math.max(0, Math.min(visible.length - 1, index))];
    if (!target) return;
    setCurrent(rows.key[target.row]);
    props.onPick(rows.fn[target.row]);
  };
  const { by, ascending } = rows.sort;
  useEffect(() => sight.reveal(at), [current, by, ascending]);
  const onKeyDown = (event: KeyboardEvent) => {
    const { row, depth, isOpen, canOpen } = visible[at] ?? {};
    if (row === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    const parent = () => {
      for (let i = at; i >= 0; i--) if (visible[i].depth < depth!) return i;
      return at;
    };
    const acts: Record<string, () => void> = {
      ArrowRight: () => (canOpen && !isOpen ? open(row, true) : go(at + 1)),
      ArrowLeft: () => (isOpen ? open(row, false) : go(parent())),
      "*": () => setOpened(new Set([...opened, ...hotPath(rows, row)])),
    };
    if (sight.onKey(event, at, go) || !acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  };
  const { first, last } = sight;
  const numbers = numbersOf(rows, props.unit);
  return (
    <div
      class="table"
      role="treegrid"
      aria-label={props.label}
      aria-rowcount={visible.length + 1}
      aria-activedescendant={id}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onCopy={(event) => copyTable(event, () => textRows(props, numbers, visible))}
    >
      <Head sorted={props.sorted} headings={weightHeadings(props.unit, props.withSelf)} />
      <div class="body" ref={sight.body} role="rowgroup" onScroll={sight.onScroll}>
        <div style={{ height: `${visible.length * ROW_PX}px` }}>
          {visible.slice(first, last).map((one, i) => (
            <Row
              key={rows.key[one.row]}
              one={one}
              index={first + i}
              id={first + i === at ? id : undefined}
              current={first + i === at}
              numbers={numbers}
              toggle={() => open(one.row, !one.isOpen)}
              pick={() => go(first + i)}
              {...props}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function textRows(
  { rows, unit, withSelf }: TreeTableProps,
  { self, total, whole }: Numbers,
  visible: Visible[],
): string[][] {
  const head = ["total", ...(withSelf ? ["self"] : []), unit, "function"];
  const lines = visible.map(({ row, depth }) => [
    percent(total[row], whole, rows.total[row]),
    ...(withSelf ? [percent(self[row], whole, rows.self[row])] : []),
    weightText(total[row], unit),
    `${"  ".repeat(depth)}${nameOf(rows.fn[row])}`,
  ]);
  return [head, ...lines];
}

interface RowProps extends TreeTableProps {
  one: Visible;
  id: string | undefined;
  index: number; // among those that are visible
  current: boolean;
  numbers: Numbers;
  toggle(): void;
  pick(): void;
}

function Row(props: RowProps) {
  const { one, index, current, numbers, toggle, pick } = props;
  const { rows, unit, picked, search, withSelf } = props;
  const { row, depth, isOpen, canOpen } = one;
  const fn = rows.fn[row];
  const { self, total, whole } = numbers;
  const classes = ["row"];
  if (current) classes.push("current");
  if (picked && keyOfFunction(fn) === picked) classes.push("picked");
  if (search) classes.push(search.hits[fn] ? "hit" : "miss");
  return (
    <div
      class={classes.join(" ")}
      role="row"
      id={props.id}
      aria-rowindex={index + 2}
      aria-level={depth + 1}
      aria-expanded={canOpen ? isOpen : undefined}
      aria-selected={current}
      style={{ top: `${index * ROW_PX}px` }}
      onClick={pick}
      onDblClick={toggle}
    >
      <Share part={total[row]} whole={whole} samples={rows.total[row]} />
      {withSelf && <Share part={self[row]} whole={whole} samples={rows.self[row]} />}
      <Weight weight={total[row]} unit={unit} />
      {withSelf && <Weight weight={self[row]} unit={unit} />}
      <span class="name" style={{ paddingLeft: `${Math.min(depth, 60) * 12}px` }}>
        <button
          class="twisty"
          tabIndex={-1}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            toggle();
          }}
        >
          {canOpen ? (isOpen ? "▾" : "▸") : ""}
        </button>
        <FunctionName fn={fn} note={rows.inlined[row] ? "inlined · " : ""} />
      </span>
    </div>
  );
}
