/** The search for buffers: its box, the matches, and their number. */

import { element } from "./dom";
import { countNoun } from "./format";
import type { Box } from "./model";
import type { Side } from "./side";

export class SearchBox {
  private readonly input = element("input", {
    type: "search",
    placeholder: "Name, line, scope, shape",
    "aria-label": "Search buffers",
  });
  private readonly count = element("span", { class: "matches", role: "status" });
  readonly element = element("div", { class: "search" }, this.input, this.count);
  private matches: readonly Box[] = [];
  private match = -1;

  /**
   * @param change called after the text changed
   * @param open called with a match to go to
   */
  constructor(change: () => void, open: (box: Box | undefined) => void) {
    this.input.addEventListener("input", change);
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.matches.length > 0) {
        const count = this.matches.length;
        this.match = (this.match + (event.shiftKey ? count - 1 : 1)) % count;
        open(this.matches[this.match]);
      } else if (event.key === "Escape") {
        this.input.value = "";
        change();
      }
    });
  }

  focus(): void {
    this.input.focus();
  }

  /** Search the memory spaces that are shown; return the boxes, the largest first, or undefined without a text. */
  find(sides: readonly Side[]): readonly Box[] | undefined {
    const text = this.input.value;
    const isSearch = text.trim() !== "";
    this.matches = bySize(sides.flatMap(({ module, space }) => [...module.search(space, text)]));
    this.match = -1;
    this.count.textContent = isSearch ? countNoun(this.matches.length, "buffer") : "";
    return isSearch ? this.matches : undefined;
  }
}

/** Return boxes, the largest first. */
export function bySize(boxes: readonly Box[]): Box[] {
  return [...boxes].sort((one, other) => other.size - one.size);
}
