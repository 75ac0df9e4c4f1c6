/** Python interpreters and what they can run. Nothing here depends on VS Code. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface Interpreter {
  /** Absolute path. */
  readonly path: string;
  readonly version: readonly [major: number, minor: number];
  /** Whether hlo-lsp is installed for this interpreter. */
  readonly hasServer: boolean;
}

const MIN_VERSION = [3, 10] as const;
const PROBE = `
import importlib.util, json, sys
print(json.dumps([sys.executable, sys.version_info[:2], importlib.util.find_spec("hlo_lsp") is not None]))
`;
const PROBE_TIMEOUT_MS = 30_000; // the first start of an interpreter on a network drive is slow

/** Return the names under which interpreters are on PATH, the preferred one first. */
export function interpreterNames(platform: NodeJS.Platform): readonly string[] {
  return platform === "win32" ? ["python", "py", "python3"] : ["python3", "python"];
}

/**
 * Run an interpreter to get its path and version; undefined if it cannot be run.
 *
 * @param cwd working directory; Python imports from it first, so it must not be a workspace folder
 */
export async function probe(command: string, cwd: string): Promise<Interpreter | undefined> {
  try {
    const options = { cwd, timeout: PROBE_TIMEOUT_MS, windowsHide: true };
    const { stdout } = await promisify(execFile)(command, ["-c", PROBE], options);
    return parseProbe(stdout);
  } catch {
    return undefined;
  }
}

/** Parse the last line of the output: startup files of a site may print before it. */
export function parseProbe(output: string): Interpreter | undefined {
  const values: unknown = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
  if (!Array.isArray(values)) {
    return undefined;
  }
  const [path, version, hasServer] = values as [string, [number, number], boolean];
  return path === "" ? undefined : { path, version, hasServer };
}

/** Whether hlo-lsp supports the version of an interpreter. */
export function isSupported({ version: [major, minor] }: Interpreter): boolean {
  return major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]);
}

/** Whether a path names a Python interpreter and not, for example, `hlo-lsp` itself. */
export function isInterpreter(path: string): boolean {
  return /(?:^|[\\/])(?:python|pypy)[\d.]*(?:\.exe)?$/i.test(path);
}
