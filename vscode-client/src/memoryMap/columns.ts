/** The columns of the two tables: the buffers at a step, and all buffers. */

import { formatBytes, formatCount } from "./format";
import type { LiveBuffer } from "./liveSet";
import type { Box, Grouping } from "./model";
import type { Column } from "./table";

type GroupOf = (box: Box, grouping: Grouping) => string;

/** Return the columns of the buffers at a step, whose groups are by the chosen grouping. */
export function liveColumns(groupOf: GroupOf, grouping: () => Grouping): Column<LiveBuffer>[] {
  const nameOf = ({ box, allocation }: LiveBuffer): string =>
    box?.name ?? `allocation ${allocation.number}, ${allocation.kind}`;
  const group = ({ box }: LiveBuffer): string => (box === undefined ? "" : groupOf(box, grouping()));
  return [
    { title: "Buffer", text: nameOf, key: nameOf },
    { title: "Size", text: ({ bytes }) => formatBytes(bytes), key: ({ bytes }) => bytes, isNumber: true },
    { title: "Group", text: group, key: group },
    { title: "Steps", text: ({ box }) => steps(box), key: ({ box }) => box?.start ?? -1, isNumber: true },
  ];
}

/** Return the columns of all buffers. */
export function boxColumns(groupOf: GroupOf, bandOf: (box: Box) => string): Column<Box>[] {
  const by =
    (grouping: Grouping) =>
    (box: Box): string =>
      groupOf(box, grouping);
  return [
    { title: "Buffer", text: ({ name }) => name, key: ({ name }) => name },
    { title: "Size", text: ({ size }) => formatBytes(size), key: ({ size }) => size, isNumber: true },
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
    { title: "Python line", text: by("line"), key: by("line") },
    { title: "Shape", text: ({ shape }) => shape, key: ({ shape }) => shape },
    { title: "Scope", text: by("scope"), key: by("scope") },
    { title: "Role", text: by("role"), key: by("role") },
  ];
}

function steps(box: Box | undefined): string {
  return box === undefined || box.start < 0 ? "" : `${formatCount(box.start)}–${formatCount(box.end)}`;
}
