// Which program: a launch configuration of the type isoscope or of a debugger of native programs, or a file.
import * as vscode from "vscode";
import { asOurs } from "../model/other_debuggers";

interface Choice extends vscode.QuickPickItem {
  folder?: vscode.WorkspaceFolder;
  config?: vscode.DebugConfiguration;
}

/** What of the program is run: a test of it. */
export interface Part {
  name: string;
  args: string[]; // behind those of the configuration
}

export interface Wish {
  part?: Part;
  isDirect?: boolean; // where there is one configuration only, it is not asked for
}

const OTHER: Choice = { label: "$(file-binary) A program…", description: "without a launch configuration" };
let last = ""; // of what was chosen, which is the first choice then

export async function chooseLaunch({ part, isDirect = false }: Wish = {}): Promise<void> {
  const configs = configured();
  const title = part ? `isoscope: which program has ${part.name}?` : "isoscope: what shall be run?";
  const isClear = configs.length === 0 || (isDirect && configs.length === 1);
  const chosen = isClear ? (configs[0] ?? OTHER) : await vscode.window.showQuickPick([...configs, OTHER], { title });
  if (!chosen) return;
  last = chosen.label;
  const config = chosen.config ?? (await askProgram());
  if (!config) return;
  const partly = part ? { ...config, name: `${config.name}: ${part.name}`, args: [...(config.args ?? []), ...part.args] } : config;
  await vscode.debug.startDebugging(chosen.folder ?? vscode.workspace.workspaceFolders?.[0], partly);
}

/** Ours before those of debuggers; what was chosen last before all. */
function configured(): Choice[] {
  const all = (vscode.workspace.workspaceFolders ?? []).flatMap((folder) => {
    const configs = vscode.workspace.getConfiguration("launch", folder.uri).get<vscode.DebugConfiguration[]>("configurations", []);
    const ours = configs.filter(({ type, request }) => type === "isoscope" && request === "launch");
    return [
      ...ours.map((config) => choiceOf(folder, config, "play")),
      ...configs.flatMap((config) => {
        const our = asOurs(config);
        return our ? [choiceOf(folder, our as unknown as vscode.DebugConfiguration, "debug-alt", ` (${config.type})`)] : [];
      }),
    ];
  });
  return [...all.filter(({ label }) => label === last), ...all.filter(({ label }) => label !== last)];
}

function choiceOf(folder: vscode.WorkspaceFolder, config: vscode.DebugConfiguration, icon: string, of = ""): Choice {
  return { label: `$(${icon}) ${config.name}`, description: `${config.program}${of}`, folder, config };
}

async function askProgram(): Promise<vscode.DebugConfiguration | undefined> {
  const files = await vscode.window.showOpenDialog({ title: "isoscope: the program to run", openLabel: "Run" });
  const program = files?.[0]?.fsPath;
  return program ? { type: "isoscope", request: "launch", name: program.replace(/^.*\//, ""), program } : undefined;
}
