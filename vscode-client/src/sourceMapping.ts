/** Which entry of `hlo.sourceMap` leads from the Python files of a dump to files in the workspace. */

/** An entry of `hlo.sourceMap`. */
export interface Mapping {
  /** A folder in the dump. */
  readonly prefix: string;
  /** The same folder on this machine. */
  readonly folder: string;
}

/** A mapping, and what it follows from. */
export interface FoundMapping extends Mapping {
  /** The file of the dump and the local one, if nothing but their name is the same. */
  readonly onlyName?: { readonly file: string; readonly path: string };
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
export function mappingOf(missing: readonly string[], local: readonly LocalFile[]): FoundMapping | undefined {
  const counts = new Map<string, { mapping: FoundMapping; count: number }>();
  for (const file of missing) {
    const mapping = mappingOfFile(file, local);
    if (mapping !== undefined) {
      const { prefix, folder } = mapping;
      const key = JSON.stringify([prefix, folder]);
      const known = counts.get(key);
      // Of several files, each confirms the others.
      counts.set(key, known === undefined ? { mapping, count: 1 } : { mapping: { prefix, folder }, count: known.count + 1 });
    }
  }
  return [...counts.values()].sort((one, other) => other.count - one.count)[0]?.mapping;
}

/** Return whether a Python text defines the functions, whose names are qualified; false without any. */
export function defines(text: string, functions: readonly string[]): boolean {
  const names = functions.flatMap((name) => name.split(".")).filter((name) => /^\w+$/.test(name));
  return names.length > 0 && names.every((name) => new RegExp(`\\b(?:def|class)\\s+${name}\\b|\\b${name}\\s*=`).test(text));
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
function mappingOfFile(file: string, local: readonly LocalFile[]): FoundMapping | undefined {
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
  const mapping = { prefix: folderOf(file, count), folder: withoutLast(found.path, count) };
  return longest === 1 ? { ...mapping, onlyName: { file, path: found.path } } : mapping;
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
