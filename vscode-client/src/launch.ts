/** The command that runs hlo-lsp. Nothing here depends on VS Code. */

import { isInterpreter, isSupported, type Interpreter } from "./interpreters";

/** `command` with `args` is `hlo-lsp`; the arguments of hlo-lsp follow. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

export interface LaunchOptions {
  /** The setting `hlo.server.path`; empty if it is not set. */
  readonly setting: string;
  /** The script that runs the bundled server. */
  readonly script: string;
  /** Return the path of the program that the setting names; undefined if there is none. */
  findProgram(setting: string): Promise<string | undefined>;
  /** Return commands of interpreters, the preferred one first. */
  interpreters(): Promise<readonly string[]>;
  probe(command: string): Promise<Interpreter | undefined>;
}

/** The server cannot be started; the message is for the user. */
export class LaunchError extends Error {}

/**
 * Find the command that runs hlo-lsp.
 *
 * A program in the setting is used as it is and never replaced by another one. An interpreter in
 * the setting runs its own hlo-lsp if one is installed. Otherwise, and without the setting, an
 * interpreter runs the bundled server.
 *
 * @throws LaunchError if the setting or all interpreters are unusable
 */
export async function findLaunch(options: LaunchOptions): Promise<Launch> {
  const { setting, script } = options;
  if (setting !== "") {
    return launchOfSetting(setting, options);
  }
  for (const command of await options.interpreters()) {
    const interpreter = await options.probe(command);
    if (interpreter !== undefined && isSupported(interpreter)) {
      return { command: interpreter.path, args: [script] };
    }
  }
  throw new LaunchError("The HLO language server requires Python 3.10 or newer, but none was found.");
}

async function launchOfSetting(setting: string, options: LaunchOptions): Promise<Launch> {
  const command = await options.findProgram(setting);
  if (command === undefined) {
    throw new LaunchError(`The setting hlo.server.path names a program that does not exist: ${setting}`);
  }
  if (!isInterpreter(command)) {
    return { command, args: [] };
  }
  const interpreter = await options.probe(command);
  if (interpreter === undefined || !isSupported(interpreter)) {
    throw new LaunchError(`The setting hlo.server.path requires Python 3.10 or newer: ${setting}`);
  }
  return { command, args: interpreter.hasServer ? ["-m", "hlo_lsp"] : [options.script] };
}
