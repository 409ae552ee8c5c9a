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
  const closing = useRef(false); // by us: the event comes late, when it may be open again
  useEffect(() => {
    const { current } = dialog;
    if (!current || current.open === shown.value) return;
    if (shown.value) return current.showModal();
    closing.current = true;
    current.close();
  }, [shown.value]);
  const hide = (event: Event) => {
    event.preventDefault();
    shown.value = false;
  };
  const closed = () => {
    if (!closing.current) shown.value = false;
    closing.current = false;
  };
  return (
    <dialog ref={dialog} onCancel={hide} onClose={closed} aria-label={label} {...rest}>
      <form method="dialog" onSubmit={hide}>
        {children}
        <button>Close</button>
      </form>
    </dialog>
  );
}
