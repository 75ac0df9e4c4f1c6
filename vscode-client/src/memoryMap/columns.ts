/** The columns of the two tables: the buffers at a step, and all buffers. */

import type { ChangedBytes } from "./comparison";
import { formatBytes, formatChange, formatCount, shortLine } from "./format";
import type { LiveBuffer } from "./liveSet";
import type { Box, Grouping } from "./model";
import type { Column } from "./table";

/** Return the columns of the buffers at a step, whose groups are by the chosen grouping. */
export function liveColumns(grouping: () => Grouping): Column<LiveBuffer>[] {
  const group = ({ box }: LiveBuffer): string => (box === undefined ? "" : groupOf(box, grouping()));
  return [
    { title: "Buffer", text: nameOf, key: nameOf, tooltip: (row) => (row.box === undefined ? nameOf(row) : titleOf(row.box)) },
    { title: "Size", text: ({ bytes }) => formatBytes(bytes), key: ({ bytes }) => bytes, isNumber: true },
    { title: "Group", text: group, key: group },
    { title: "Steps", text: ({ box }) => steps(box), key: ({ box }) => box?.start ?? -1, isNumber: true },
  ];
}

/** Return the columns of the buffers at a step of two modules. */
export function changeColumns(): Column<ChangedBytes>[] {
  const size = (bytes: number): string => (bytes === 0 ? "" : formatBytes(bytes));
  const change = ({ before, bytes }: ChangedBytes): number => bytes - before;
  return [
    { title: "Buffer", text: nameOf, key: nameOf, tooltip: (row) => (row.box === undefined ? nameOf(row) : titleOf(row.box)) },
    {
      title: "Change",
      text: (row) => (change(row) === 0 ? "" : formatChange(change(row))),
      key: change,
      isNumber: true,
    },
    { title: "Before", text: ({ before }) => size(before), key: ({ before }) => before, isNumber: true },
    { title: "After", text: ({ bytes }) => size(bytes), key: ({ bytes }) => bytes, isNumber: true },
  ];
}

/** Return the columns of all buffers. */
export function boxColumns(isComparison: boolean): Column<Box>[] {
  const by =
    (grouping: Grouping) =>
    (box: Box): string =>
      groupOf(box, grouping);
  const bandOf = (box: Box): string => box.module.bandOf(box)?.label ?? "";
  const otherSize = ({ match }: Box): string => (match === undefined ? "" : formatBytes(match.size));
  const side = ({ module }: Box): string => (module.isBefore === true ? "before" : "after");
  return [
    { title: "Buffer", text: ({ label }) => label, key: ({ label }) => label, tooltip: titleOf },
    ...(isComparison
      ? [
          { title: "Compile", text: side, key: side },
          { title: "Change", text: by("change"), key: by("change") },
          { title: "Other size", text: otherSize, key: ({ match }: Box) => match?.size ?? -1, isNumber: true },
        ]
      : []),
    { title: "Size", text: ({ size }) => formatBytes(size), key: ({ size }) => size, isNumber: true },
    { title: "Python line", text: by("line"), key: by("line") },
    {
      title: "Padding",
      text: ({ padding }) => (padding > 0 ? formatBytes(padding) : ""),
      key: ({ padding }) => padding,
      isNumber: true,
    },
    { title: "Steps", text: steps, key: ({ start }) => start, isNumber: true },
    { title: "Inside", text: bandOf, key: bandOf },
    {
      title: "Allocation",
      text: ({ allocation }) => formatCount(allocation.number),
      key: ({ allocation }) => allocation.number,
      isNumber: true,
    },
    { title: "Offset", text: ({ offset }) => formatCount(offset), key: ({ offset }) => offset, isNumber: true },
    { title: "Shape", text: ({ shape }) => shape, key: ({ shape }) => shape },
    { title: "Scope", text: by("scope"), key: by("scope") },
    { title: "Role", text: by("role"), key: by("role") },
  ];
}

function nameOf({ box, allocation }: LiveBuffer): string {
  return box?.label ?? `allocation ${allocation.number}, ${allocation.kind}`;
}

/** Return the whole name of a box: the argument, and the instruction. */
function titleOf({ label, name }: Box): string {
  return label === name ? name : `${label}, ${name}`;
}

function groupOf(box: Box, grouping: Grouping): string {
  return shortLine(box.module.group(box, grouping));
}

function steps(box: Box | undefined): string {
  return box === undefined || box.start < 0 ? "" : `${formatCount(box.start)}–${formatCount(box.end)}`;
}
