/** The list of groups: how many of the bytes at a step belong to each. */

import { NEUTRAL_COLOR, type Group, type Groups } from "./colors";
import { button, element } from "./dom";
import { countNoun, formatBytes, shortLine } from "./format";
import type { LiveBuffer } from "./liveSet";

const MAX_GROUPS = 60;

/**
 * Return a row for each group, the largest first.
 *
 * @param total the bytes at the step
 * @param chosen the name of the group that is emphasized
 */
export function groupRows(
  buffers: readonly LiveBuffer[],
  total: number,
  groups: Groups | undefined,
  chosen: string | undefined,
  choose: (name: string, group: Group | undefined) => void,
): HTMLElement[] {
  const sums = new Map<Group | undefined, { bytes: number; count: number }>();
  for (const { box, bytes } of buffers) {
    const group = box === undefined ? undefined : groups?.of(box);
    const sum = sums.get(group) ?? { bytes: 0, count: 0 };
    sums.set(group, { bytes: sum.bytes + bytes, count: sum.count + 1 });
  }
  const ordered = [...sums].sort(([, one], [, other]) => other.bytes - one.bytes);
  return ordered.slice(0, MAX_GROUPS).map(([group, { bytes, count }]) => {
    const name = group?.name ?? "unused bytes";
    const color = `var(--map-color-${group?.color ?? NEUTRAL_COLOR})`;
    const bar = element("span", { class: "bar" });
    bar.style.width = `${Math.max(1, (100 * bytes) / Math.max(1, total)).toFixed(1)}%`;
    bar.style.background = color;
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = color;
    const title = `${name}: ${countNoun(count, "buffer")}`;
    const row = button("", { title, "aria-pressed": String(chosen === name) }, () => {
      choose(name, group);
    });
    row.append(
      swatch,
      element("span", { class: "name" }, shortLine(name)),
      element("span", { class: "size" }, formatBytes(bytes)),
      element("span", { class: "track" }, bar),
    );
    return element("li", {}, row);
  });
}
