/** Lost bytes, donation, and advice of a memory space: one line, which can be opened. */

import { element } from "./dom";
import { countNoun } from "./format";
import type { Side } from "./side";

export class Notes {
  readonly element = element("details", { class: "notes", hidden: "" });

  show(sides: readonly Side[]): void {
    const found = sides.map(({ space: { notes, advice }, module }) => ({ notes, advice, module }));
    const parts = found.flatMap(({ notes, advice }) => [
      ...notes.map((note) => note.split(":")[0] ?? note),
      ...(advice.length > 0 ? [countNoun(advice.length, "piece").concat(" of advice")] : []),
    ]);
    this.element.hidden = parts.length === 0;
    this.element.replaceChildren(
      element("summary", {}, parts.join(" · ")),
      ...found.flatMap(({ notes, advice, module }) => [
        ...(found.length > 1 ? [element("strong", {}, module.isBefore === true ? "Before" : "After")] : []),
        element(
          "ul",
          {},
          ...notes.map((note) => element("li", {}, `${note}.`)),
          ...advice.map(([text, saving]) => element("li", {}, `Advice: ${text.replaceAll("`", "")}; ${saving}.`)),
        ),
      ]),
    );
  }
}
