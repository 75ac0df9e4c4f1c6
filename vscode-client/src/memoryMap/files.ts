/** Places in files: those of a box, and files that the user opens. */

import { button, element } from "./dom";
import type { FileLine } from "./host";
import type { Box } from "./model";

/** Return the lines of a box: in the buffer assignment, and in the module text. */
export function placesOf(box: Box): FileLine[] {
  const { assignment, module } = box.module.data.files;
  return [
    ...(assignment === null ? [] : [{ uri: assignment, line: box.assignmentLine }]),
    ...(module === null || box.moduleLine < 0 ? [] : [{ uri: module, line: box.moduleLine }]),
  ];
}

/** Create a button that opens a file of the user, and passes on its text. */
export function fileButton(load: (text: string) => void): HTMLElement {
  const input = element("input", { type: "file", accept: ".json,application/json", hidden: "" });
  input.addEventListener("change", () => {
    void input.files?.[0]?.text().then(load);
  });
  const open = button("Open map…", { title: "Open the JSON of another dump, or drop it on the page" }, () => {
    input.click();
  });
  return element("span", {}, open, input);
}
