/** Which program serves, and in which order it is looked for. No word of VS Code here. */

/** What is run: `command` with `args` is `hlo-lsp`, whatever follows are its own arguments. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly origin: "setting" | "python" | "private";
}

/** An interpreter as it told of itself. */
export interface Interpreter {
  /** Absolute path. */
  readonly path: string;
  readonly version: readonly [major: number, minor: number];
  /** The version of hlo-lsp that it can import. */
  readonly server: string | undefined;
}

/** Where a server may be. */
export interface Places {
  /** The setting `hlo.server.path`; undefined if it is not set. */
  readonly setting: string | undefined;
  /** The program that the setting means, if there is one. */
  program(setting: string): Promise<string | undefined>;
  /** Interpreters, the likeliest first: the selected one, then those on the path. */
  interpreters(): AsyncIterable<Interpreter>;
  /** The interpreter of the private environment, if it was made. */
  privateInterpreter(): Promise<string | undefined>;
}

export type Discovery =
  | { readonly kind: "found"; readonly launch: Launch }
  /** The user named a program that is not there; nothing else is tried behind their back. */
  | { readonly kind: "setting-wrong"; readonly setting: string }
  /** `base` can be the ground of a private environment, undefined if no interpreter can. */
  | { readonly kind: "none"; readonly base: Interpreter | undefined };

const OLDEST = [3, 10] as const;
const MODULE = ["-m", "hlo_lsp"] as const;

/** Look in the setting, the Python environments, the private environment. */
export async function discover(places: Places): Promise<Discovery> {
  if (places.setting !== undefined) {
    const command = await places.program(places.setting);
    return command === undefined
      ? { kind: "setting-wrong", setting: places.setting }
      : { kind: "found", launch: { command, args: isInterpreter(command) ? MODULE : [], origin: "setting" } };
  }
  let base: Interpreter | undefined;
  for await (const interpreter of places.interpreters()) {
    if (!isNewEnough(interpreter)) {
      continue;
    }
    if (interpreter.server !== undefined) {
      return { kind: "found", launch: { command: interpreter.path, args: MODULE, origin: "python" } };
    }
    base ??= interpreter;
  }
  const own = await places.privateInterpreter();
  return own === undefined
    ? { kind: "none", base }
    : { kind: "found", launch: { command: own, args: MODULE, origin: "private" } };
}

/** Whether the server runs on an interpreter. */
export function isNewEnough({ version: [major, minor] }: Interpreter): boolean {
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** Whether a path is that of a Python interpreter, by its name, and not of `hlo-lsp` itself. */
export function isInterpreter(path: string): boolean {
  return /(?:^|[\\/])(?:python|pypy)[\d.]*(?:\.exe)?$/i.test(path);
}
