/** Which entry of `hlo.sourceMap` leads from the Python files of a dump to files in the workspace. */

/** An entry of `hlo.sourceMap`. */
export interface Mapping {
  /** A folder in the dump. */
  readonly prefix: string;
  /** The same folder on this machine. */
  readonly folder: string;
}

/** A file in the workspace. */
export interface LocalFile {
  /** Its absolute path. */
  readonly path: string;
  /** The number of parts of its path in the workspace folder. */
  readonly depth: number;
}

/** Names of files that say nothing about their folder. */
const COMMON_NAMES: ReadonlySet<string> = new Set(["__init__.py", "__main__.py", "setup.py"]);

/**
 * Return the mapping that finds most of the missing files; undefined if none is certain.
 *
 * @param missing paths of Python files in a dump
 */
export function mappingOf(missing: readonly string[], local: readonly LocalFile[]): Mapping | undefined {
  const counts = new Map<string, { mapping: Mapping; count: number }>();
  for (const file of missing) {
    const mapping = mappingOfFile(file, local);
    if (mapping !== undefined) {
      const key = JSON.stringify(mapping);
      counts.set(key, { mapping, count: (counts.get(key)?.count ?? 0) + 1 });
    }
  }
  return [...counts.values()].sort((one, other) => other.count - one.count)[0]?.mapping;
}

/** Return the files of a dump that no prefix of `hlo.sourceMap` matches: the user has decided about the others. */
export function unmapped(files: readonly string[], prefixes: readonly string[]): string[] {
  const isMapped = (file: string, prefix: string): boolean => {
    const folder = prefix.replace(/[\\/]+$/, "");
    return prefix === "." ? !/^(?:[\\/]|[A-Za-z]:)/.test(file) : file.startsWith(`${folder}/`) || file.startsWith(`${folder}\\`);
  };
  return files.filter((file) => !prefixes.some((prefix) => isMapped(file, prefix)));
}

/** Return the name of a file in a path of Unix or Windows. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

/** Return the mapping to the file with the longest common end of its path, unless several have it. */
function mappingOfFile(file: string, local: readonly LocalFile[]): Mapping | undefined {
  const lengths = local.map(({ path }) => commonParts(file, path));
  const longest = Math.max(0, ...lengths);
  const [found, ...others] = local.filter((_, index) => lengths[index] === longest);
  if (found === undefined || others.length > 0 || longest === 0) {
    return undefined;
  }
  if (longest === 1 && COMMON_NAMES.has(fileName(file))) {
    return undefined;
  }
  const count = Math.min(longest, found.depth); // a folder above the workspace is not mapped
  return { prefix: folderOf(file, count), folder: withoutLast(found.path, count) };
}

/** Return a path in a dump without its last parts: a folder, perhaps the root or a drive. */
function folderOf(file: string, count: number): string {
  const folder = withoutLast(file, count);
  if (folder === "") {
    return file.startsWith("/") ? "/" : ".";
  }
  return /^[A-Za-z]:$/.test(folder) ? `${folder}\\` : folder;
}

function commonParts(one: string, other: string): number {
  const [first, second] = [one.split(/[\\/]/).reverse(), other.split(/[\\/]/).reverse()];
  // The first part of an absolute path is empty, or a drive.
  const limit = Math.min(first.length, second.length - 1);
  let count = 0;
  while (count < limit && first[count] !== "" && first[count] === second[count]) {
    count += 1;
  }
  return count;
}

function withoutLast(path: string, count: number): string {
  const separator = path.includes("/") ? "/" : "\\";
  return path.split(/[\\/]/).slice(0, -count).join(separator);
}
