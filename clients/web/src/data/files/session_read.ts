import type { SavedFile } from "../../wire/protocol";
import type { Profile } from "../profile";
import { blocksOf } from "./session_blocks";
import { columnsOf } from "./session_columns";

export interface SessionFacts {
  file: SavedFile;
  lost: Record<string, number>;
}

export function readSession(file: Uint8Array): { profile: Profile; session: SessionFacts } {
  for (const { content } of blocksOf(file, new Set(["SMPL"]))) columnsOf(content, 10);
  throw new Error("not yet");
}
