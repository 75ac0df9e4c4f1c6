/** What the page can show at a time: one compile, or two for comparison. */

import { linkBoxes } from "./comparison";
import { formatTime } from "./format";
import { Module, type MemoryMapDocument } from "./model";

export type Entry = readonly [Module] | readonly [Module, Module];

/** Return the comparisons of a document, or its modules if there are none. */
export function entriesOf({ modules: data, comparisons }: MemoryMapDocument): Entry[] {
  const modules = data.map((each) => new Module(each));
  if (comparisons === undefined) {
    return modules.map((module) => [module]);
  }
  return comparisons.flatMap((comparison): Entry[] => {
    const [before, after] = [modules[comparison.before], modules[comparison.after]];
    if (before === undefined || after === undefined) {
      return [];
    }
    linkBoxes(before, after, comparison);
    return [[before, after]];
  });
}

/** Return the name of an entry with the folders of its dumps, because many modules have one name. */
export function nameOf(entry: Entry): string {
  return `${entry[0].data.name} · ${entry.map(({ data }) => folderOf(data.path)).join(" → ")}`;
}

/** Return the folder of a dump; many modules have one name. */
export function folderOf(path: string): string {
  return /([^\\/]+)[\\/][^\\/]*$/.exec(path)?.[1] ?? path;
}

/** Return the sum of the times of the steps, and what it leaves out; nothing if a time is unknown. */
export function describeTimes(entry: Entry): string[] {
  const times = entry.flatMap(({ timedSteps }) => timedSteps ?? []);
  if (times.length < entry.length) {
    return [];
  }
  const titles = new Set(times.map(({ data }) => data.title));
  const sums = times.map(({ length }) => formatTime(length));
  return [`${[...titles].join(", ")} ${sums.join(" → ")}`, ...new Set(times.flatMap(({ data }) => data.notes))];
}
