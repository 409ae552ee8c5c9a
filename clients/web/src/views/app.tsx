// The page: its parts from top to bottom.
import { useEffect, useMemo } from "preact/hooks";
import { useAnswer } from "../state/answer";
import { keyOfFunction, look } from "../state/live";
import { hits } from "../state/page";
import { selection } from "../state/selection";
import { BottomUpView } from "./bottom_up_view";
import { Chart } from "./chart";
import { Compare } from "./compare";
import { Drop, FileBanner } from "./drop";
import { Filters } from "./filters";
import { Flame } from "./flame";
import { FunctionTable } from "./function_table";
import { Header } from "./header";
import { Help } from "./help";
import { onKey } from "./keys";
import { Overview } from "./overview";
import { Save } from "./save";
import { Side } from "./side";
import { Source } from "./source";
import { Banner, Status } from "./status";
import { Tabs } from "./tabs";
import { CallTreeView } from "./call_tree_view";
import type { SearchResult } from "../worker/messages";
import { isDark } from "./colours";

/** Each view by its name. */
function View({ search }: { search: SearchResult | null }) {
  switch (selection.value.view) {
    case "flame":
      return <Flame search={search} />;
    case "chart":
      return <Chart search={search} />;
    case "tree":
      return <CallTreeView search={search} />;
    case "bottom-up":
      return <BottomUpView search={search} />;
    case "table":
      return <FunctionTable search={search} />;
    case "source":
      return <Source />;
    case "compare":
      return <Compare search={search} />;
  }
}

export function App() {
  const { search } = selection.value;
  const answer = useAnswer("search", search.text ? { ...look.value, search } : null);
  const found = useMemo(
    () => (search.text && answer && !answer.error ? answer : null),
    [search.text, answer],
  );
  useEffect(() => {
    hits.value = found ? Array.from(found.order, keyOfFunction) : [];
  }, [found]);
  useEffect(() => {
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    document.documentElement.dataset.theme = isDark.value ? "dark" : "light";
  }, [isDark.value]);
  return (
    <>
      <Header search={search.text ? answer : null} />
      <Banner />
      <FileBanner />
      <Overview />
      <Tabs />
      <main>
        <section class="view">
          <View search={found} />
        </section>
        <Side />
      </main>
      <Status />
      <Help />
      <Filters />
      <Save />
      <Drop />
    </>
  );
}
