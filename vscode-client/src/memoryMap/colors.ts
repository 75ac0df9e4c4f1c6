/** The groups of the buffers of a memory space, each with a color of the theme. */

import type { Box, Grouping, Module, Space } from "./model";

/** Number of colors for groups; smaller groups share the color after them. */
const GROUP_COLORS = 10;
/** Color numbers after those of groups. */
const OTHER_COLOR = GROUP_COLORS;
export const NEUTRAL_COLOR = GROUP_COLORS + 1;
const COLOR_COUNT = GROUP_COLORS + 2;

/** Groups of the caller's buffers, which are rarely of interest. */
const NEUTRAL_GROUPS = new Set(["arguments", "argument", "tuple tables", "constants", "constant", "unknown"]);

export interface Group {
  readonly name: string;
  readonly color: number;
  /** The boxes in the memory space that is shown. */
  readonly boxes: Box[];
}

export class Groups {
  private readonly byNumber = new Map<number, Group>();

  constructor(
    private readonly module: Module,
    space: Space,
    readonly grouping: Grouping,
  ) {
    // Ranked over all memory spaces, so that a group has the same color in each of them.
    const weights = new Map<number, number>();
    for (const box of module.spaces.flatMap(({ boxes }) => boxes)) {
      const number = module.groupNumber(box, grouping);
      weights.set(number, (weights.get(number) ?? 0) + box.size * (box.end - box.start + 1));
    }
    let color = 0;
    for (const [number] of [...weights].sort(([, one], [, other]) => other - one)) {
      const name = module.text(number);
      const isNeutral = NEUTRAL_GROUPS.has(name);
      this.byNumber.set(number, { name, boxes: [], color: isNeutral ? NEUTRAL_COLOR : Math.min(color, OTHER_COLOR) });
      color += isNeutral ? 0 : 1;
    }
    for (const box of space.boxes) {
      this.of(box)?.boxes.push(box);
    }
  }

  of(box: Box): Group | undefined {
    return this.byNumber.get(this.module.groupNumber(box, this.grouping));
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
