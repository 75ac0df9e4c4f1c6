/** The groups of the buffers of a memory space, each with a color of the theme. */

import type { Box, Grouping, Module, Space } from "./model";

/** Number of colors for groups; smaller groups share the color after them. */
export const GROUP_COLORS = 10;
/** Color numbers after those of groups. */
export const OTHER_COLOR = GROUP_COLORS;
export const NEUTRAL_COLOR = GROUP_COLORS + 1;
const COLOR_COUNT = GROUP_COLORS + 2;

/** Groups of the caller's buffers, which are rarely of interest. */
const NEUTRAL_GROUPS = new Set(["arguments", "argument", "tuple tables", "constants", "constant", "unknown"]);

export interface Group {
  readonly name: string;
  readonly color: number;
  readonly boxes: readonly Box[];
}

export class Groups {
  private readonly byNumber = new Map<number, Group>();
  readonly list: readonly Group[];

  constructor(
    private readonly module: Module,
    space: Space,
    readonly grouping: Grouping,
  ) {
    const members = new Map<number, Box[]>();
    for (const box of space.boxes) {
      const number = module.groupNumber(box, grouping);
      const known = members.get(number);
      if (known === undefined) {
        members.set(number, [box]);
      } else {
        known.push(box);
      }
    }
    const weights = new Map([...members].map(([number, boxes]) => [number, byteSteps(boxes)]));
    const ordered = [...members].sort(
      ([one], [other]) => (weights.get(other) ?? 0) - (weights.get(one) ?? 0),
    );
    let color = 0;
    const list: Group[] = [];
    for (const [number, boxes] of ordered) {
      const name = boxes[0] === undefined ? "" : module.group(boxes[0], grouping);
      const isNeutral = NEUTRAL_GROUPS.has(name);
      const group = { name, boxes, color: isNeutral ? NEUTRAL_COLOR : Math.min(color, OTHER_COLOR) };
      color += isNeutral ? 0 : 1;
      list.push(group);
      this.byNumber.set(number, group);
    }
    this.list = list;
  }

  of(box: Box): Group | undefined {
    return this.byNumber.get(this.module.groupNumber(box, this.grouping));
  }
}

function byteSteps(boxes: readonly Box[]): number {
  return boxes.reduce((sum, { size, start, end }) => sum + size * (end - start + 1), 0);
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
