// The sheet of keys.
import { helpShown } from "../../state/page";
import { Sheet } from "../parts/sheet";
import { KEYS } from "./keys";

export function Help() {
  return (
    <Sheet shown={helpShown} label="Keys">
      <table>
        {KEYS.map(({ keys, does }) => (
          <tr>
            <td>
              <kbd>{keys}</kbd>
            </td>
            <td>{does}</td>
          </tr>
        ))}
      </table>
      <p>
        Flame graph and flame chart: the wheel zooms at the pointer, Shift and the wheel move, Alt
        and the wheel scroll. Arrows go from frame to frame, Enter zooms to one, + and - zoom.
        Dragging moves. A click selects, a double click zooms, a right click opens a menu. Heat map:
        dragging selects a range, from cell to cell; a click selects a cell. Arrows go from cell to
        cell, Shift and arrows mark a range, Enter selects it. A mark over a lane is a stall:
        a click selects its time and its thread, arrows go from mark to mark, Enter opens one; marks that
        are too near to be told apart are zoomed to. Back and Forward undo and redo. A percentage with ~
        is of fewer than 30 samples.
      </p>
      {location.protocol !== "file:" && (
        <p>
          <a href="docs/" target="_blank">
            Documentation
          </a>
        </p>
      )}
    </Sheet>
  );
}
