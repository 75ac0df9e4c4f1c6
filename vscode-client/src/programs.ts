/** Paths of programs in settings. */

import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve } from "node:path";

export interface SearchContext {
  /** The first workspace folder. */
  readonly folder: string | undefined;
  readonly home: string;
  /** The environment variable PATH. */
  readonly path: string;
}

/**
 * Return the absolute path of a program; undefined if it cannot be run.
 *
 * The setting is a name on PATH or a path, also with `~` or `${workspaceFolder}` or relative to the
 * workspace folder.
 */
export async function findProgram(setting: string, context: SearchContext): Promise<string | undefined> {
  for (const path of candidates(setting, context)) {
    if (await canRun(path)) {
      return path;
    }
  }
  return undefined;
}

/** Whether a path is absolute and inside a folder. */
export function isBelow(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return isAbsolute(path) && inside !== "" && !/^\.\.(?:[\\/]|$)/.test(inside) && !isAbsolute(inside);
}

/** Whether a path is inside a folder, also if one of them is spelled with links; not where the path itself leads. */
export async function isStoredBelow(path: string, folder: string): Promise<boolean> {
  if (!isAbsolute(path)) {
    return false;
  }
  return isBelow(path, folder) || isBelow(join(await real(dirname(path)), basename(path)), await real(folder));
}

async function real(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

function candidates(setting: string, { folder, home, path }: SearchContext): string[] {
  if (!/[\\/]/.test(setting)) {
    return path
      .split(delimiter)
      .filter((each) => isAbsolute(each))
      .flatMap((each) => [join(each, setting), join(each, `${setting}.exe`)]);
  }
  const expanded = setting
    .replace(/^~(?=[\\/])/, home)
    .replaceAll("${workspaceFolder}", folder ?? "${workspaceFolder}");
  if (isAbsolute(expanded)) {
    return [expanded];
  }
  return folder === undefined ? [] : [resolve(folder, expanded)];
}

async function canRun(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
