/** The summary of the fixed allocations below a map, and the legend of the colors that are not those of groups. */

import { colorOfKind, nameOfKind, type Groups } from "./colors";
import { button, element, swatch } from "./dom";
import { formatBytes } from "./format";
import type { Space } from "./model";

const MIN_SHARE = 0.01; // of the fixed bytes

/** A band that stands for the fixed allocations of a memory space, which a click shows in the map or hides. */
export class FixedBand {
  private readonly button = button("", { class: "fixed-band" }, () => {
    this.toggle();
  });
  readonly element: HTMLElement = this.button;

  constructor(private readonly toggle: () => void) {}

  show(space: Space, isHidden: boolean): void {
    const bytes = new Map<string, number>();
    for (const { kind, size } of space.allocations.filter(({ isFixed }) => isFixed)) {
      bytes.set(kind, (bytes.get(kind) ?? 0) + size);
    }
    const kinds = [...bytes].sort(([, one], [, other]) => other - one);
    const total = kinds.reduce((sum, [, size]) => sum + size, 0);
    this.element.hidden = !hasBand(space);
    this.element.setAttribute("aria-expanded", String(!isHidden));
    this.element.title = `${isHidden ? "Show" : "Hide"} the allocations of arguments, outputs, and constants`;
    const text = element("span", { class: "name" }, `${isHidden ? "▸" : "▾"} ${formatBytes(total)} at all steps:`);
    for (const [kind, size] of kinds.filter(([, each]) => each >= MIN_SHARE * total)) {
      text.append(" ", swatch(colorOfKind(kind)), ` ${nameOfKind(kind)} ${formatBytes(size)}`);
    }
    const bar = element("span", { class: "kinds" });
    for (const [kind, size] of kinds) {
      const part = element("span");
      part.style.flexGrow = String(size / total);
      part.style.background = `var(--map-color-${colorOfKind(kind)})`;
      bar.append(part);
    }
    this.element.replaceChildren(text, bar);
  }
}

/** Return the legend of the colors that neither the list of groups nor the band explains in each case. */
export function legendOf(spaces: readonly Space[], groups: Groups, showsFixed: boolean): HTMLElement[] {
  const fixed = spaces.flatMap(({ allocations }) => allocations.filter(({ isFixed }) => isFixed));
  const known = new Set(spaces.every(hasBand) ? fixed.map(({ kind }) => colorOfKind(kind)) : []);
  const items = groups.legend().filter(({ color }) => !known.has(color));
  return [
    ...items.map(({ name, color }) => element("li", {}, swatch(color), ` ${name}`)),
    ...(showsFixed && fixed.some(({ boxes }) => boxes.every(({ start }) => start >= 0)) ? [element("li", {}, "pale: fixed, but no value is live")] : []),
    element("li", {}, "faint: partly free"),
  ];
}

/** Return whether there is something to summarize, and something to show beside it. */
function hasBand({ allocations, curve }: Space): boolean {
  const hasFixed = allocations.some(({ isFixed, size }) => isFixed && size > 0);
  return hasFixed && curve !== undefined && allocations.some(({ isFixed }) => !isFixed);
}
