// The sheet of keys.
import { helpShown } from "../state/page";
import { useEffect, useRef } from "preact/hooks";
import { KEYS } from "./keys";

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (helpShown.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [helpShown.value]);
  return (
    <dialog ref={dialog} onClose={() => (helpShown.value = false)} aria-label="Keys">
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
        In flame graph and chart: the wheel zooms at the pointer, with Shift it moves; dragging
        moves; a click picks, a double click zooms. A share with ~ is of fewer than 30 samples.
      </p>
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}
