// Files of profiles in the page, read-only: sessions, pprof, speedscope. The page is the one that `isoscope export html` makes.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

const VIEWS = ["isoscope.session", "isoscope.profile"];
const PATIENCE_MS = 120_000;
// VS Code gives the page some. Before the page's policy, which allows no style in its text.
const NO_PADDING = "<style>body { padding: 0; }</style>";

export function registerFileEditors(): vscode.Disposable {
  const options = { webviewOptions: { retainContextWhenHidden: true }, supportsMultipleEditorsPerDocument: true };
  return vscode.Disposable.from(...VIEWS.map((view) => vscode.window.registerCustomEditorProvider(view, new FileEditor(), options)));
}

class FileEditor implements vscode.CustomReadonlyEditorProvider {
  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => {} };
  }

  async resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    panel.webview.options = { enableScripts: true, localResourceRoots: [] };
    panel.webview.html = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: `isoscope: reading ${basename(uri.path)}` },
      () => onePage(uri.fsPath),
    );
  }
}

/** Throws an Error with what isoscope said. */
async function onePage(file: string): Promise<string> {
  const command = vscode.workspace.getConfiguration("isoscope").get("command", "isoscope");
  const folder = mkdtempSync(join(tmpdir(), "isoscope-"));
  const out = join(folder, "page.html");
  try {
    await promisify(execFile)(command, ["export", "-o", out, "html", file], { timeout: PATIENCE_MS });
    return readFileSync(out, "utf8").replace("<head>", `<head>${NO_PADDING}`);
  } catch (error) {
    const { stderr = "", message } = error as Error & { stderr?: string };
    throw new Error(stderr.trim().replace(/^isoscope: /, "") || message);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
