// A sheet over the page, while its signal is true.
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  shown: Signal<boolean>;
  label: string;
  class?: string;
  children: ComponentChildren;
}

export function Sheet({ shown, label, children, ...rest }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (shown.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [shown.value]);
  // The event comes late: it may be open again by then.
  const closed = () => (shown.value = dialog.current?.open ?? false);
  return (
    <dialog ref={dialog} onClose={closed} aria-label={label} {...rest}>
      <form method="dialog">
        {children}
        <button>Close</button>
      </form>
    </dialog>
  );
}
