// A program with two tests, as GoogleTest would run them, and an extension that finds them: what a user has beside ours.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const client = fileURLToPath(new URL("../../../clients/vscode", import.meta.url));
const { zipSync } = createRequire(join(client, "package.json"))("fflate");

export const CHECKS = `#include <cstdio>
#include <cstring>

static volatile double sink;
static const char *filter = "";

#define TEST(suite, name) static void suite##_##name()

TEST(Sums, Up)
{
    for (int i = 1; i < 100 * 1000 * 1000; i++)
        sink = sink + 1.0 / i;
}

TEST(Sums, Divides)
{
    for (int i = 1; i < 100 * 1000 * 1000; i++)
        sink = sink + 1.0 / i;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strncmp(argv[1], "--gtest_filter=", 15))
        filter = argv[1] + 15;
    printf("filter '%s'\\n", filter);
    if (!*filter || !strcmp(filter, "Sums.Up"))
        Sums_Up();
    if (!*filter || !strcmp(filter, "Sums.Divides"))
        Sums_Divides();
    return 0;
}
`;

const FINDER = `const vscode = require("vscode");
exports.activate = async ({ subscriptions }) => {
  const controller = vscode.tests.createTestController("finder", "Finder");
  subscriptions.push(controller);
  for (const folder of vscode.workspace.workspaceFolders) {
    const uri = vscode.Uri.joinPath(folder.uri, "checks.cpp");
    const lines = (await vscode.workspace.openTextDocument(uri)).getText().split("\\n");
    lines.forEach((text, line) => {
      const found = /^TEST\\((\\w+), (\\w+)\\)/.exec(text);
      if (!found) return;
      const item = controller.createTestItem(found[1] + "." + found[2], found[1] + "." + found[2], uri);
      item.range = new vscode.Range(line, 0, line + 4, 0);
      controller.items.add(item);
    });
  }
};
`;

/** An extension that is not ours; returns its file. */
export function finderVsix(folder) {
  const manifest = {
    ...{ name: "finder", publisher: "tests", version: "1.0.0", engines: { vscode: "^1.91.0" } },
    ...{ main: "./main.js", activationEvents: ["onStartupFinished"], extensionKind: ["workspace"] },
  };
  const xml = `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata><Identity Language="en-US" Id="finder" Version="1.0.0" Publisher="tests" /><DisplayName>Finder</DisplayName>
  <Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value="^1.91.0" /></Properties></Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code" /></Installation><Dependencies />
  <Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true" /></Assets>
</PackageManifest>`;
  const files = { "extension.vsixmanifest": xml, "extension/package.json": JSON.stringify(manifest), "extension/main.js": FINDER };
  const types = `<?xml version="1.0" encoding="utf-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json" /><Default Extension=".js" ContentType="application/javascript" />
<Default Extension=".vsixmanifest" ContentType="text/xml" /></Types>`;
  const all = Object.entries({ ...files, "[Content_Types].xml": types }).map(([name, text]) => [name, Buffer.from(text)]);
  const file = join(folder, "finder.vsix");
  writeFileSync(file, zipSync(Object.fromEntries(all)));
  return file;
}
