// What a user is asked before a command of the server runs, and what he is told then.
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import type { FunctionRow, Status } from "../../../editor/src/lsp/own_messages";
import { windowOf } from "../model/window_text";
import { chooseLaunch } from "./choose_launch";
import { chooseSource } from "./choose_source";
import type { LanguageServer } from "./language_server";

/** Where the server's page is shown. */
export interface Pages {
  open(uri: string): Promise<void>;
}

type Words = unknown[];

/** What a command needs that its caller did not say; undefined: the user does not want it any more. */
const ASKS: Record<string, (server: LanguageServer) => Promise<Words | undefined>> = {
  "isoscope.attach": async (server) => wordOf(await chooseSource(server, "What shall be shown?", [])),
  "isoscope.compare": async (server) =>
    wordOf(await chooseSource(server, "What shall it be compared with?", [{ label: "The run before of the same program", source: "" }])),
  "isoscope.window": async () => {
    const value = await vscode.window.showInputBox({
      title: "isoscope: which seconds since the first sample?",
      prompt: "Two times, as 2-5.5; nothing: all of the time",
      validateInput: (text) => (windowOf(text) === undefined ? "Two times are expected, the earlier one first, as 2-5.5" : ""),
    });
    return value === undefined ? undefined : (windowOf(value) ?? []);
  },
};

const wordOf = (word: string | undefined) => (word === undefined ? undefined : [word]);

/** Commands go through it, by whomever they are asked for. */
export function middlewareFor(server: () => LanguageServer, pages: Pages): Middleware {
  return {
    executeCommand: async (command, words: Words, next) => {
      try {
        if (command === "isoscope.run" && !words.length) return await chooseLaunch();
        const asked = words.length ? given(words) : await askedFor(command, server());
        if (!asked) return undefined;
        const answer: unknown = await next(command, asked);
        if (command === "isoscope.status") void vscode.window.showInformationMessage(`isoscope: ${(answer as Status).text}`);
        return answer;
      } catch (error) {
        void vscode.window.showErrorMessage(`isoscope: ${(error as Error).message}`);
        return undefined;
      }
    },
    window: {
      showDocument: async (params, token, next) => {
        if (!/^https?:/.test(params.uri)) return next(params, token);
        await pages.open(params.uri);
        return { success: true };
      },
    },
  };
}

async function askedFor(command: string, server: LanguageServer): Promise<Words | undefined> {
  const ask = ASKS[command];
  return ask ? ask(server) : [];
}

/** A row of the tree stands for its function; what the menus add stands for nothing. */
function given(words: Words): Words {
  const [row] = words as (Partial<FunctionRow> | undefined)[];
  if (row === undefined) return [];
  return typeof row === "object" && row !== null && typeof row.key === "string" ? [row.key] : words;
}
