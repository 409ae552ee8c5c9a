// Which program: a launch configuration of the type isoscope, or a file.
import * as vscode from "vscode";

interface Choice extends vscode.QuickPickItem {
  folder?: vscode.WorkspaceFolder;
  config?: vscode.DebugConfiguration;
}

export async function chooseLaunch(): Promise<void> {
  const configs = configured();
  const other: Choice = { label: "$(file-binary) A program…", description: "without a launch configuration" };
  const chosen = configs.length
    ? await vscode.window.showQuickPick([...configs, other], { title: "isoscope: what shall be run?" })
    : other;
  if (!chosen) return;
  const config = chosen.config ?? (await askProgram());
  if (config) await vscode.debug.startDebugging(chosen.folder ?? vscode.workspace.workspaceFolders?.[0], config);
}

function configured(): Choice[] {
  return (vscode.workspace.workspaceFolders ?? []).flatMap((folder) => {
    const all = vscode.workspace.getConfiguration("launch", folder.uri).get<vscode.DebugConfiguration[]>("configurations", []);
    const ours = all.filter(({ type, request }) => type === "isoscope" && request === "launch");
    return ours.map((config) => ({ label: `$(play) ${config.name}`, description: String(config.program), folder, config }));
  });
}

async function askProgram(): Promise<vscode.DebugConfiguration | undefined> {
  const files = await vscode.window.showOpenDialog({ title: "isoscope: the program to run", openLabel: "Run" });
  const program = files?.[0]?.fsPath;
  return program ? { type: "isoscope", request: "launch", name: program.replace(/^.*\//, ""), program } : undefined;
}
