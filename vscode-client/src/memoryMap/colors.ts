/** The groups of the buffers of a memory space, each with a color of the theme. */

import { CHANGES, type Change } from "./comparison";
import type { Box, Grouping, Module, Space } from "./model";

/** Number of colors for groups; smaller groups share the color after them. */
const GROUP_COLORS = 10;
/** Color numbers after those of groups. */
const OTHER_COLOR = GROUP_COLORS;
export const NEUTRAL_COLOR = GROUP_COLORS + 1;
const ARGUMENT_COLOR = GROUP_COLORS + 2;
const CONSTANT_COLOR = GROUP_COLORS + 3;
const OUTPUT_COLOR = GROUP_COLORS + 4;
const TUPLE_TABLE_COLOR = GROUP_COLORS + 5;
const COLOR_COUNT = GROUP_COLORS + 6;

/** Groups that are not of a Python line or a scope have a color of their own. */
const KIND_COLORS: ReadonlyMap<string, number> = new Map([
  ["arguments", ARGUMENT_COLOR],
  ["argument", ARGUMENT_COLOR],
  ["constants", CONSTANT_COLOR],
  ["constant", CONSTANT_COLOR],
  ["output", OUTPUT_COLOR],
  ["tuple tables", TUPLE_TABLE_COLOR],
  ["unknown", NEUTRAL_COLOR],
]);
/** The kinds of fixed allocations, with the names of the legend. */
const ALLOCATION_KINDS: Readonly<Record<string, string>> = { parameter: "arguments", constant: "constants", output: "outputs" };

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

  named(name: string): Group | undefined {
    return this.byName.get(name);
  }

  of(box: Box): Group | undefined {
    return this.byName.get(this.nameOf(box));
  }

  /** Return the groups that are shown and have a color of their kind, and one for those that share a color. */
  legend(): { readonly name: string; readonly color: number }[] {
    const shown = [...this.byName.values()].filter(({ boxes }) => boxes.length > 0);
    const kinds = shown.filter(({ name, color }) => KIND_COLORS.get(name) === color);
    const hasOthers = shown.some(({ color }) => color === OTHER_COLOR);
    return [...kinds, ...(hasOthers ? [{ name: "other groups", color: OTHER_COLOR }] : [])];
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
      const ofKind = KIND_COLORS.get(name);
      this.byName.set(name, { name, boxes: [], color: ofKind ?? Math.min(color, OTHER_COLOR) });
      color += ofKind === undefined ? 1 : 0;
    }
  }
}

/** Return the name of the kind of a fixed allocation. */
export function nameOfKind(kind: string): string {
  return ALLOCATION_KINDS[kind] ?? kind;
}

/** Return the color of the kind of a fixed allocation. */
export function colorOfKind(kind: string): number {
  return kind === "output" ? OUTPUT_COLOR : (KIND_COLORS.get(nameOfKind(kind)) ?? NEUTRAL_COLOR);
}

/** The colors of the current theme, read from custom properties of the style sheet. */
export interface Theme {
  /** Red, green, and blue of each color, from 0 to 255. */
  readonly channels: readonly (readonly number[])[];
  readonly background: string;
  readonly foreground: string;
  readonly muted: string;
  readonly line: string;
  readonly accent: string;
  readonly fixed: string;
  readonly area: string;
  readonly label: string;
  readonly time: string;
}

export function readTheme(element: Element): Theme {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(`--map-${name}`).trim();
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const channelsOf = (color: string): number[] => {
    if (context === null) {
      return [0, 0, 0];
    }
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  return {
    channels: Array.from({ length: COLOR_COUNT }, (_, number) => channelsOf(read(`color-${number}`))),
    background: read("background"),
    foreground: read("foreground"),
    muted: read("muted"),
    line: read("line"),
    accent: read("accent"),
    fixed: read("fixed"),
    area: read("area"),
    label: read("label"),
    time: read("time"),
  };
}
