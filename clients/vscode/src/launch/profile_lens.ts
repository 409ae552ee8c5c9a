// "Profile" above main and above tests; and on tests in VS Code's own views, whichever extension found them.
//
// A run profile of VS Code's testing interface is of the extension that found its tests, so none can be added to another
// one's. What an entry in their menus is given tells where the test stands: the text there tells how it is run.
import * as vscode from "vscode";
import { LANGUAGES, type Runnable, runnablesOf, testAt } from "../model/runnable";
import { chooseLaunch } from "../server/choose_launch";

const PROFILE = "isoscope.profileThis"; // of a lens
const isWanted = () => vscode.workspace.getConfiguration("isoscope").get("profileLens", true);

export function registerProfileLens(): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses: (document) => {
      const found = runnablesOf(document.getText(), document.languageId);
      if (found.some(({ args }) => args)) void vscode.commands.executeCommand("setContext", "isoscope.hasTests", true); // of menus
      return isWanted() ? found.map(lensOf) : [];
    },
  };
  const selector = LANGUAGES.map((language) => ({ scheme: "file", language }));
  return vscode.Disposable.from(
    changed,
    vscode.languages.registerCodeLensProvider(selector, provider),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("isoscope.profileLens") && changed.fire()),
    vscode.commands.registerCommand(PROFILE, profile),
    vscode.commands.registerCommand("isoscope.profileTest", profileTest),
  );
}

function lensOf(one: Runnable): vscode.CodeLens {
  const tooltip = one.args ? `Run this test under isoscope: ${one.args.join(" ")}` : "Run the program under isoscope";
  const command = { title: "$(flame) Profile", tooltip, command: PROFILE, arguments: [one] };
  return new vscode.CodeLens(new vscode.Range(one.line, 0, one.line, 0), command);
}

async function profile({ name, args }: Runnable): Promise<void> {
  await chooseLaunch({ isDirect: true, ...(args && { part: { name, args } }) });
}

/** item: a test of VS Code's; without one, that at the cursor. */
async function profileTest(item?: vscode.TestItem): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const uri = item ? item.uri : editor?.document.uri;
  const line = item ? item.range?.start.line : editor?.selection.active.line;
  const document = uri && (await vscode.workspace.openTextDocument(uri));
  const test = document && line !== undefined ? testAt(runnablesOf(document.getText(), document.languageId), line) : undefined;
  if (test) return profile(test);
  const what = item ? `"${item.label}"` : "the place of the cursor";
  void vscode.window.showErrorMessage(
    `isoscope: ${what} is no test of GoogleTest, Catch2, doctest or Boost.Test. Others are run by a launch configuration whose args name them`,
  );
}
