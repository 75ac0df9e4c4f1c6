/** Python interpreters, asked what they are. */

import type { Interpreter } from "./discovery";
import { run } from "./run";

// The server is imported and not only looked for: one that is broken is none.
const QUESTION = `
import json, sys
try:
    from hlo_lsp import __version__ as server
    import pygls, lsprotocol, lark
except Exception:
    server = None
print(json.dumps([sys.executable, sys.version_info[:2], server]))
`;
const PATIENCE = 30_000; // milliseconds; the first start of an interpreter from a network drive is slow

/**
 * Ask an interpreter what it is; undefined if there is none of that name.
 *
 * @param folder where it runs: Python imports from there first, so it must not be a workspace
 */
export async function ask(command: string, folder: string): Promise<Interpreter | undefined> {
  try {
    const answer = await run(command, ["-c", QUESTION], { cwd: folder, timeout: PATIENCE });
    return read(answer);
  } catch {
    return undefined;
  }
}

/** Read an answer, of which the last line counts: start-up files of a site may print, too. */
export function read(answer: string): Interpreter | undefined {
  const told: unknown = JSON.parse(answer.trimEnd().split("\n").at(-1) ?? "");
  if (!Array.isArray(told)) {
    return undefined;
  }
  const [path, version, server] = told as [string, [number, number], string | null];
  return path === "" ? undefined : { path, version, server: server ?? undefined };
}

/** The names under which interpreters are on the path. */
export function usualNames(platform: NodeJS.Platform): readonly string[] {
  return platform === "win32" ? ["python", "py", "python3"] : ["python3", "python"];
}
