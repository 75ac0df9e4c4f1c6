/** Programs that settings name. */

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, relative, resolve } from "node:path";

export interface Surroundings {
  /** The first folder that is open. */
  readonly folder: string | undefined;
  readonly home: string;
  /** The variable PATH. */
  readonly path: string;
}

/**
 * The absolute path of a program: of a path, also with `~` or `${workspaceFolder}` or relative to
 * the folder that is open, or of a name that is on PATH. Undefined if nothing there can be run.
 */
export async function findProgram(setting: string, around: Surroundings): Promise<string | undefined> {
  for (const path of candidates(setting, around)) {
    if (await canRun(path)) {
      return path;
    }
  }
  return undefined;
}

/** Whether an absolute path leads below a folder; names that are looked for on PATH lead nowhere. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return isAbsolute(path) && way !== "" && !/^\.\.(?:[\\/]|$)/.test(way) && !isAbsolute(way);
}

function candidates(setting: string, { folder, home, path }: Surroundings): string[] {
  if (!/[\\/]/.test(setting)) {
    return path
      .split(delimiter)
      .filter((each) => isAbsolute(each))
      .flatMap((each) => [join(each, setting), join(each, `${setting}.exe`)]);
  }
  const filled = setting
    .replace(/^~(?=[\\/])/, home)
    .replaceAll("${workspaceFolder}", folder ?? "${workspaceFolder}");
  if (isAbsolute(filled)) {
    return [filled];
  }
  return folder === undefined ? [] : [resolve(folder, filled)];
}

async function canRun(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
