import { PVSC_EXTENSION_ID, PythonExtension } from "@vscode/python-extension";
import * as vscode from "vscode";

/** Whether the user can select an interpreter in the Python extension. */
export function hasPythonExtension(): boolean {
  return vscode.extensions.getExtension(PVSC_EXTENSION_ID) !== undefined;
}

/** Return the path of the interpreter that is selected in the Python extension, if it is installed. */
export async function selectedInterpreter(): Promise<string | undefined> {
  if (!hasPythonExtension()) {
    return undefined;
  }
  const { environments } = await PythonExtension.api();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const environment = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
  return environment?.executable.uri?.fsPath;
}

/** Call a listener when another interpreter is selected. Activates the Python extension. */
export async function onDidSelectInterpreter(listener: () => void): Promise<vscode.Disposable | undefined> {
  return hasPythonExtension()
    ? (await PythonExtension.api()).environments.onDidChangeActiveEnvironmentPath(listener)
    : undefined;
}
