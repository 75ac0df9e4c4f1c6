/** The list of groups: how many of the bytes at a step belong to each. */

import { NEUTRAL_COLOR, type Group, type Groups } from "./colors";
import type { ChangedBytes } from "./comparison";
import { button, element, swatch } from "./dom";
import { countNoun, formatBytes, formatChange, shortLine } from "./format";
import type { LiveBuffer } from "./liveSet";

const MAX_GROUPS = 60;
const MIN_SHARE = 0.01; // of the bytes

/** Whether the user opened the row of small groups; rows are made again whenever the pointer moves. */
let areSmallGroupsShown = false;

/**
 * Return a row for each group, the largest first; in a comparison, with the largest change first.
 *
 * Several groups below 1% of the bytes are folded into one row.
 *
 * @param chosen the name of the group that is emphasized
 */
export function groupRows(
  buffers: readonly (LiveBuffer | ChangedBytes)[],
  isComparison: boolean,
  groups: Groups | undefined,
  chosen: string | undefined,
  choose: (name: string) => void,
): HTMLElement[] {
  const sums = new Map<Group | undefined, { bytes: number; before: number; count: number }>();
  for (const buffer of buffers) {
    const group = buffer.box === undefined ? undefined : groups?.of(buffer.box);
    const sum = sums.get(group) ?? { bytes: 0, before: 0, count: 0 };
    sum.bytes += buffer.bytes;
    sum.before += "before" in buffer ? buffer.before : 0;
    sum.count += 1;
    sums.set(group, sum);
  }
  const weight = ({ bytes, before }: { bytes: number; before: number }): number => Math.abs(bytes - before);
  const ordered = [...sums].sort(([, one], [, other]) => weight(other) - weight(one) || other.bytes - one.bytes);
  const total = ordered.reduce((sum, [, each]) => sum + weight(each), 0);
  const rows = ordered.slice(0, MAX_GROUPS).map(([group, sum]) => {
    const name = group?.name ?? "unused bytes";
    const color = group?.color ?? NEUTRAL_COLOR;
    const bar = element("span", { class: "bar" });
    bar.style.width = `${Math.max(1, (100 * weight(sum)) / Math.max(1, total)).toFixed(1)}%`;
    bar.style.background = `var(--map-color-${color})`;
    const sizes = isComparison ? `, ${formatBytes(sum.before)} → ${formatBytes(sum.bytes)}` : "";
    const title = `${name}: ${countNoun(sum.count, "buffer")}${sizes}`;
    const row = button("", { title, "aria-pressed": String(chosen === name) }, () => {
      choose(name);
    });
    row.append(
      swatch(color),
      element("span", { class: "name" }, shortLine(name)),
      element("span", { class: "size" }, isComparison ? formatChange(sum.bytes - sum.before) : formatBytes(sum.bytes)),
      element("span", { class: "track" }, bar),
    );
    return element("li", {}, row);
  });
  const large = ordered.filter(([, sum]) => weight(sum) >= MIN_SHARE * total);
  const small = ordered.slice(large.length);
  if (small.length < 2) {
    return rows;
  }
  const rest = small.reduce((sum, [, each]) => sum + each.bytes - each.before, 0);
  const title = element(
    "summary",
    {},
    element("span", { class: "name" }, `${countNoun(small.length, "group")} below 1%`),
    element("span", { class: "size" }, isComparison ? formatChange(rest) : formatBytes(rest)),
  );
  const isOpen = areSmallGroupsShown || small.some(([group]) => group !== undefined && group.name === chosen);
  const folded = element("details", isOpen ? { open: "" } : {}, title, element("ul", {}, ...rows.slice(large.length)));
  title.addEventListener("click", () => {
    areSmallGroupsShown = !folded.open;
  });
  return [...rows.slice(0, large.length), element("li", {}, folded)];
}
