// The page: its parts from top to bottom.
import { useEffect, useMemo } from "preact/hooks";
import { useAnswer } from "../state/answer";
import { look } from "../state/live";
import { selection } from "../state/selection";
import { BottomUpView } from "./bottom_up_view";
import { Flame } from "./flame";
import { Header } from "./header";
import { Help } from "./help";
import { onKey } from "./keys";
import { Overview } from "./overview";
import { Side } from "./side";
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
    case "tree":
      return <CallTreeView search={search} />;
    case "bottom-up":
      return <BottomUpView search={search} />;
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
    </>
  );
}
