/** The buttons of the memory spaces; those of small ones are behind one button. */

import { spaceNamed } from "./comparison";
import { button, element } from "./dom";
import type { Entry } from "./entries";
import { countNoun, formatBytes } from "./format";
import type { Space } from "./model";

export class SpaceTabs {
  readonly element = element("div", { class: "spaces", role: "group", "aria-label": "Memory space" });
  private marked: string | undefined;

  constructor(private readonly open: (name: string) => void) {}

  show(entry: Entry, names: readonly string[]): void {
    this.element.replaceChildren(
      ...names.map((name) => {
        const spaces = entry.map((module) => spaceNamed(module, name));
        const tab = button("", { "aria-pressed": "false", "data-space": name }, () => {
          this.open(name);
        });
        tab.append(element("strong", {}, name), ` ${spaces.map(sizeOf).join(" → ")}`);
        return tab;
      }),
    );
    this.foldSmall(entry);
  }

  mark(name: string): void {
    this.marked = name;
    for (const tab of this.element.querySelectorAll("[data-space]")) {
      tab.setAttribute("aria-pressed", String(tab.getAttribute("data-space") === name));
    }
  }

  /** Replace the buttons of tiny memory spaces by one that shows them. */
  private foldSmall(entry: Entry): void {
    const found = entry.flatMap(({ data: { spaces } }) => spaces);
    const isSmall = (name: string | null): boolean =>
      found.every((space) => (space.pair ?? space.name) !== name || space.isSmall === true);
    const small = [...this.element.children].filter((tab) => isSmall(tab.getAttribute("data-space")));
    if (small.length === 0) {
      return;
    }
    const more = button(`${countNoun(small.length, "small space")}…`, {}, () => {
      more.replaceWith(...small);
      this.mark(this.marked ?? "");
    });
    small[0]?.before(more);
    small.forEach((tab) => {
      tab.remove();
    });
  }
}

function sizeOf({ number, curve, allocatedBytes }: Space): string {
  if (number < 0) {
    return "not used";
  }
  return `${curve === undefined ? "" : `${formatBytes(curve.peakBytes)} of `}${formatBytes(allocatedBytes)}`;
}
