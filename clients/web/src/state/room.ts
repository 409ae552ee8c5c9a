// How the page's room is shared out, as the user last had it: of this browser, and in no link.
//
// A cookie keeps it: each run has its own port, and local storage is one port's.
import { computed, effect, signal } from "@preact/signals";

const COOKIE = "isoscope_room";
const YEAR_S = 365 * 24 * 3600;
const NARROW = "(max-width: 640px)"; // below, the side panel is a sheet at the bottom

/** Sizes in CSS pixels; 0: as much as its content asks for. */
export const ROOM_START = { side: true, sideWidth: 270, sheetHeight: 260, overviewHeight: 0, theme: "" };
export type Room = typeof ROOM_START;

export const room = signal<Room>(ROOM_START);
export const isNarrow = signal(false);
export const sideSize = computed(() =>
  isNarrow.value ? room.value.sheetHeight : room.value.sideWidth,
);

export function arrange(change: Partial<Room>): void {
  room.value = { ...room.value, ...change };
}

/** Of what is read, members that are like those at the start. */
export function roomFrom(cookies: string): Room {
  const read: Record<string, unknown> = { ...ROOM_START };
  const text = cookies.split("; ").find((one) => one.startsWith(`${COOKIE}=`));
  try {
    const kept = Object(JSON.parse(decodeURIComponent(text?.slice(COOKIE.length + 1) ?? "{}")));
    for (const [name, start] of Object.entries(ROOM_START)) {
      const isLike = typeof kept[name] === typeof start;
      if (isLike && (typeof start !== "number" || (kept[name] >= 0 && kept[name] < 1e4)))
        read[name] = kept[name];
    }
  } catch {
    // Written by another program at this address.
  }
  return read as Room;
}

/** Reads what was kept, and keeps each change of it. */
export function keepRoom(): void {
  const narrow = matchMedia(NARROW);
  isNarrow.value = narrow.matches;
  narrow.addEventListener("change", () => (isNarrow.value = narrow.matches));
  room.value = roomFrom(document.cookie);
  effect(() => {
    const text = encodeURIComponent(JSON.stringify(room.value));
    if (room.value !== ROOM_START)
      document.cookie = `${COOKIE}=${text}; path=/; max-age=${YEAR_S}; SameSite=Strict`;
  });
}
