import { homedir } from "node:os";
import * as vscode from "vscode";
import { discover, type Discovery, type Interpreter } from "./discovery";
import { ask, usualNames } from "./interpreters";
import type { PrivateEnvironment } from "./privateEnvironment";
import { isBelow, programOf } from "./programs";
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

async function* interpreters(runsIn: string): AsyncGenerator<Interpreter> {
  const selected = await selectedPython().catch(() => undefined);
  const names = [...(selected === undefined ? [] : [selected]), ...usualNames(process.platform)];
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  for (const name of names) {
    if (!vscode.workspace.isTrusted && folders.some((folder) => isBelow(name, folder))) {
      continue; // what lies in a folder that the user does not trust is not run
    }
    const interpreter = await ask(name, runsIn);
    if (interpreter !== undefined) {
      yield interpreter;
    }
  }
}
