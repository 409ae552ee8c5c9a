// In the place of the overview, where samples are of this moment: they have no line of time.
import { kindShown } from "../../state/live";
import { Sums } from "./sums";

export function Moment() {
  return (
    <div class="moment">
      <span>
        <b>A snapshot of this moment</b>, without a line of time: {kindShown.value.about}.
      </span>
      <Sums />
    </div>
  );
}
