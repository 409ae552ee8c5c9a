// A .vsix: a zip with a manifest, the types of what is in it, and the extension's files. The same bytes each time.
import { zipSync } from "fflate";

const TYPES = { json: "application/json", js: "application/javascript", md: "text/markdown", txt: "text/plain", svg: "image/svg+xml", vsixmanifest: "text/xml" };
const TIME = new Date(1980, 0, 1); // the first that a zip knows

const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => SIGNS[sign]);

/** manifest: package.json's. files: by their path in the extension. */
export function vsix(manifest, files) {
  const inside = Object.entries(files).map(([name, bytes]) => [`extension/${name}`, bytes]);
  const all = {
    "extension.vsixmanifest": Buffer.from(manifestXml(manifest)),
    "[Content_Types].xml": Buffer.from(typesXml()),
    ...Object.fromEntries(inside),
  };
  return zipSync(all, { level: 9, mtime: TIME });
}

function typesXml() {
  const rows = Object.entries(TYPES).map(([end, type]) => `  <Default Extension=".${end}" ContentType="${type}" />`);
  return `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
${rows.join("\n")}
</Types>
`;
}

function manifestXml({ name, version, publisher, displayName, description, keywords, categories, engines, extensionKind }) {
  const property = (id, value) => `      <Property Id="Microsoft.VisualStudio.${id}" Value="${escaped(value)}" />`;
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}" />
    <DisplayName>${escaped(displayName)}</DisplayName>
    <Description xml:space="preserve">${escaped(description)}</Description>
    <Tags>${escaped(keywords.join(","))}</Tags>
    <Categories>${escaped(categories.join(","))}</Categories>
    <Properties>
${[property("Code.Engine", engines.vscode), property("Code.ExtensionKind", extensionKind.join(",")), property("Code.ExtensionDependencies", "")].join("\n")}
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code" />
  </Installation>
  <Dependencies />
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true" />
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true" />
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true" />
  </Assets>
</PackageManifest>
`;
}
