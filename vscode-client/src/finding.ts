import { homedir } from "node:os";
import { isAbsolute, relative } from "node:path";
import * as vscode from "vscode";
import { discover, type Discovery, type Interpreter } from "./discovery";
import { ask, usualNames } from "./interpreters";
import type { PrivateEnvironment } from "./privateEnvironment";
import { programOf } from "./programs";
import { selectedPython } from "./selectedPython";

/**
 * Look for a server on this machine.
 *
 * @param folder where interpreters are asked; no workspace, as Python imports from there first
 */
export function findServer(own: PrivateEnvironment, folder: string): Promise<Discovery> {
  const setting = vscode.workspace.getConfiguration("hlo").get<string>("server.path", "").trim();
  const around = {
    folder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
    home: homedir(),
    path: process.env["PATH"] ?? "",
  };
  return discover({
    setting: setting === "" ? undefined : setting,
    program: (named) => programOf(named, around),
    interpreters: () => interpreters(folder),
    privateInterpreter: () => own.interpreter(),
  });
}

async function* interpreters(folder: string): AsyncGenerator<Interpreter> {
  const selected = await selectedPython().catch(() => undefined);
  const names = [...(selected === undefined ? [] : [selected]), ...usualNames(process.platform)];
  for (const name of names.filter(isTrusted)) {
    const interpreter = await ask(name, folder);
    if (interpreter !== undefined) {
      yield interpreter;
    }
  }
}

/** In a folder that the user does not trust nothing is run that lies in it. */
function isTrusted(path: string): boolean {
  return vscode.workspace.isTrusted || !(vscode.workspace.workspaceFolders ?? []).some(({ uri }) => isBelow(path, uri.fsPath));
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return isAbsolute(path) && way !== "" && !way.startsWith("..") && !isAbsolute(way);
}
