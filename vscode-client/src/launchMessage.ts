import * as vscode from "vscode";
import { withoutLinks } from "./notifications";
import { hasPythonExtension } from "./pythonExtension";

const SELECT = "Select Interpreter";
const SETTINGS = "Open Settings";
const LOG = "Show Log";
const RESTART = "Restart Server";

/** Show why no server can be started, with buttons for what the user can do about it. */
export async function showLaunchError(message: string, log: vscode.LogOutputChannel): Promise<void> {
  log.error(message);
  const answer = await vscode.window.showErrorMessage(withoutLinks(message), SELECT, SETTINGS, LOG);
  if (answer === SELECT) {
    await selectInterpreter();
  } else if (answer === SETTINGS) {
    // The path is a setting of the machine: the user settings of a remote window do not have it.
    const command = vscode.env.remoteName === undefined ? "openSettings" : "openRemoteSettings";
    await vscode.commands.executeCommand(`workbench.action.${command}`, { query: "hlo.server.path" });
  } else if (answer === LOG) {
    log.show(true);
  }
}

/** Show that the server does not run, with buttons that help. */
export function showNotRunning(log: vscode.LogOutputChannel): void {
  void vscode.window
    .showErrorMessage("The HLO language server does not run.", RESTART, LOG)
    .then(async (answer) => {
      if (answer === RESTART) {
        await vscode.commands.executeCommand("hlo.restartServer");
      } else if (answer === LOG) {
        log.show(true);
      }
    });
}

/** Let the user select an interpreter. The server then starts because of the change. */
async function selectInterpreter(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("hlo");
  if (hasPythonExtension() && settings.get("server.path") === "") {
    await vscode.commands.executeCommand("python.setInterpreter");
    return;
  }
  const title = "Select a Python interpreter (3.10 or newer) or an hlo-lsp program";
  const [file] = (await vscode.window.showOpenDialog({ title, openLabel: "Select" })) ?? [];
  if (file !== undefined) {
    await settings.update("server.path", file.fsPath, vscode.ConfigurationTarget.Global);
  }
}
