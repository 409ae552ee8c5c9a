// The sheet of what can be saved.
import { type Form, FORMS, formsOf, TRACE } from "../../data/saved/save";
import { backend, data, files, isTime, kindShown, look } from "../../state/live";
import { savingShown } from "../../state/page";
import { shownName, standing } from "../../state/standing";
import { openByHand } from "./drop";
import { tried } from "./copy_stack";
import { sharedPage } from "./share";
import type { WholeFile } from "../../worker/messages";
import { pngPicture, svgPicture } from "../flame/picture";
import { Sheet } from "../parts/sheet";

/** As the file's name and the profile's: of the program, or of the file that is shown. */
function nameOfAll(): string {
  const { kind } = standing.value;
  const name = shownName.value ?? "profile";
  if (kind !== "file" && kind !== "saved") return name;
  return name.endsWith(".isoscope") ? name.slice(0, -".isoscope".length) : name.replace(/\..*$/, "");
}

function download(content: BlobPart, suffix: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = nameOfAll() + suffix;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** What is shown, whole: as a session, or in the page. */
function saveWhole(form: string, suffix: string, write: (file: WholeFile) => BlobPart | Promise<BlobPart>): Promise<void> {
  return tried(`cannot save ${form}`, async () =>
    download(await write(await backend().ask("whole", {})), suffix),
  );
}

function save(form: Form): Promise<void> {
  return tried(`cannot save ${form}`, async () => {
    const content = await backend().ask("save", { ...look.value, form, name: nameOfAll() });
    download(content, (form === "trace" ? TRACE : FORMS[form]).suffix);
  });
}

export function Save() {
  const { shown } = files.value;
  const row = (name: string, summary: string, act: () => unknown) => (
    <tr>
      <td>
        <button type="button" onClick={act}>
          {name}
        </button>
      </td>
      <td class="faint">{summary}</td>
    </tr>
  );
  return (
    <Sheet shown={savingShown} label="Save and open">
      <p>{isTime.value ? "Save all that was recorded:" : "Save all samples of time; no session holds others yet:"}</p>
      <table>
        {row("html", "one page to share: this page and the profile, without a service", () =>
          saveWhole("html", ".html", ({ name, bytes }) =>
            sharedPage(name || `${nameOfAll()}.isoscope`, bytes),
          ),
        )}
        {(shown?.session ?? !shown) &&
          row("isoscope", "a session file: for isoscope's commands, isoscope serve and this page", () =>
            saveWhole("isoscope", ".isoscope", ({ bytes }) => bytes),
          )}
      </table>
      <p>
        Save the samples that match the filters, with complete stacks
        {!isTime.value && `: what is ${kindShown.value.noun}, in forms that have a place for it`}:
      </p>
      <table>
        {formsOf(isTime.value).map((form) =>
          row(form, FORMS[form].summary, () => save(form)),
        )}
        {isTime.value && Boolean(data.value?.events) && row("trace", TRACE.summary, () => save("trace"))}
      </table>
      <p>Save the flame graph as it is shown:</p>
      <table>
        {row("SVG", "a picture with names as tooltips", () =>
          tried("cannot save the picture", async () =>
            download(await svgPicture(nameOfAll()), ".svg"),
          ),
        )}
        {row("PNG", "a bitmap", () =>
          tried("cannot save the picture", async () => download(await pngPicture(), ".png")),
        )}
      </table>
      <p>Open a file here, or drop it on the page:</p>
      <table>
        {row("Open…", "show a file instead", () => {
          savingShown.value = false;
          openByHand("shown");
        })}
        {isTime.value &&
          row("Compare…", "compare what is shown with a file", () => {
            savingShown.value = false;
            openByHand("compared");
          })}
      </table>
    </Sheet>
  );
}
