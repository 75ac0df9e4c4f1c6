/** The groups of the buffers of a memory space, each with a color of the theme. */

import { CHANGES, type Change } from "./comparison";
import type { Box, Grouping, Module, Space } from "./model";

/** Number of colors for groups; smaller groups share the color after them. */
const GROUP_COLORS = 10;
/** Color numbers after those of groups. */
const OTHER_COLOR = GROUP_COLORS;
export const NEUTRAL_COLOR = GROUP_COLORS + 1;
const COLOR_COUNT = GROUP_COLORS + 2;

/** Groups of the caller's buffers, which are rarely of interest. */
const NEUTRAL_GROUPS = new Set(["arguments", "argument", "tuple tables", "constants", "constant", "unknown"]);

/** Growth has warm colors. */
const CHANGE_COLORS: Record<Change, number> = {
  new: 3,
  larger: 1,
  "now at the peak": 6,
  moved: 4,
  gone: 0,
  smaller: 2,
  "no longer at the peak": 5,
  "same size": NEUTRAL_COLOR,
};

export interface Group {
  readonly name: string;
  readonly color: number;
  /** The boxes in the memory spaces that are shown. */
  readonly boxes: Box[];
}

export class Groups {
  private readonly byName = new Map<string, Group>();

  constructor(
    modules: readonly Module[],
    spaces: readonly Space[],
    readonly grouping: Grouping,
  ) {
    // Ranked over all memory spaces, so that a group has the same color in each of them.
    const weights = new Map<string, number>();
    for (const box of modules.flatMap(({ boxes }) => boxes)) {
      const name = this.nameOf(box);
      weights.set(name, (weights.get(name) ?? 0) + box.size * (box.end - box.start + 1));
    }
    const names = [...weights].sort(([, one], [, other]) => other - one).map(([name]) => name);
    this.addGroups(grouping === "change" ? CHANGES : names);
    for (const box of spaces.flatMap(({ boxes }) => boxes)) {
      this.of(box)?.boxes.push(box);
    }
  }

  of(box: Box): Group | undefined {
    return this.byName.get(this.nameOf(box));
  }

  private nameOf(box: Box): string {
    return box.module.group(box, this.grouping);
  }

  private addGroups(names: readonly string[]): void {
    let color = 0;
    for (const name of names) {
      if (this.grouping === "change") {
        this.byName.set(name, { name, boxes: [], color: CHANGE_COLORS[name as Change] });
        continue;
      }
      const isNeutral = NEUTRAL_GROUPS.has(name);
      this.byName.set(name, { name, boxes: [], color: isNeutral ? NEUTRAL_COLOR : Math.min(color, OTHER_COLOR) });
      color += isNeutral ? 0 : 1;
    }
  }
}

/** The colors of the current theme, read from custom properties of the style sheet. */
export interface Theme {
  readonly colors: readonly string[];
  readonly background: string;
  readonly foreground: string;
  readonly muted: string;
  readonly line: string;
  readonly accent: string;
  readonly fixed: string;
  readonly area: string;
  readonly label: string;
  readonly isHighContrast: boolean;
}

export function readTheme(element: Element): Theme {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(`--map-${name}`).trim();
  return {
    colors: Array.from({ length: COLOR_COUNT }, (_, number) => read(`color-${number}`)),
    background: read("background"),
    foreground: read("foreground"),
    muted: read("muted"),
    line: read("line"),
    accent: read("accent"),
    fixed: read("fixed"),
    area: read("area"),
    label: read("label"),
    isHighContrast: read("high-contrast") === "1",
  };
}
