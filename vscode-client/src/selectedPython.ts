import * as vscode from "vscode";

const EXTENSION = "ms-python.python";

/** What is used of the interface of the Python extension (@vscode/python-extension). */
interface PythonExtension {
  readonly environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(
      environment: unknown,
    ): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

/** Whether somebody can choose a Python with the Python extension. */
export function canBeChosen(): boolean {
  return vscode.extensions.getExtension(EXTENSION) !== undefined;
}

/** The interpreter that is selected in the Python extension; undefined without it. */
export async function selectedPython(): Promise<string | undefined> {
  const environments = await environmentsOf();
  if (environments === undefined) {
    return undefined;
  }
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const selected = environments.getActiveEnvironmentPath(folder);
  const resolved = await environments.resolveEnvironment(selected);
  return resolved?.executable.uri?.fsPath;
}

/** Call back when another interpreter is selected. Waits for the Python extension. */
export async function onPythonSelected(changed: () => void): Promise<vscode.Disposable | undefined> {
  return (await environmentsOf())?.onDidChangeActiveEnvironmentPath(changed);
}

async function environmentsOf(): Promise<PythonExtension["environments"]> {
  const extension = vscode.extensions.getExtension<PythonExtension | undefined>(EXTENSION);
  return extension === undefined ? undefined : (await extension.activate())?.environments;
}
