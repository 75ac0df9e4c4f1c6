/** Lost bytes and donation of a memory space, and advice on its memory and on time: one line, which can be opened. */

import { element } from "./dom";
import { countNoun } from "./format";
import type { Space } from "./model";
import type { Side } from "./side";

export class Notes {
  readonly element = element("details", { class: "notes", hidden: "" });

  show(sides: readonly Side[]): void {
    const found = sides.map(({ space: { notes, donation, advice }, module: { isBefore, data: { timeAdvice = [] } } }) => ({
      side: isBefore === undefined ? "" : isBefore ? "Before: " : "After: ",
      heads: [
        ...(advice.length > 0 ? [`${countNoun(advice.length, "piece")} of advice on memory`] : []),
        ...(timeAdvice.length > 0 ? [`${countNoun(timeAdvice.length, "piece")} of advice on time`] : []),
        ...notes.map((note) => note.split(":")[0] ?? note),
      ],
      donation,
      lines: [
        ...advice.map(([text, saving]) => `Advice on memory: ${text.replaceAll("`", "")}; ${saving}.`),
        ...timeAdvice.map((text) => `Advice on time: ${text.replaceAll("`", "")}`),
        ...notes.map((note) => `${note}.`),
      ],
    }));
    this.element.hidden = found.every(({ heads }) => heads.length === 0);
    this.element.replaceChildren(
      element("summary", {}, found.map(({ side, heads }) => `${side}${heads.join(" · ")}`).join(" · ")),
      element("ul", {}, ...found.flatMap(({ side, lines }) => lines.map((line) => element("li", {}, `${side}${line}`)))),
      ...found.filter(({ donation }) => donation.length > 0).map(({ side, donation }) => donationTable(side, donation)),
    );
  }
}

function donationTable(side: string, rows: Space["donation"]): HTMLElement {
  const row = (cells: readonly string[], name: "td" | "th"): HTMLElement =>
    element("tr", {}, ...cells.map((cell) => element(name, {}, cell)));
  return element(
    "table",
    {},
    element("caption", {}, `${side}Arguments by donation`),
    element("thead", {}, row(["Argument", "Size", "Donation"], "th")),
    element("tbody", {}, ...rows.map((cells) => row(cells, "td"))),
  );
}
