import * as vscode from "vscode";
import { ExecuteCommandRequest } from "vscode-languageclient";
import type { LanguageClient } from "vscode-languageclient/node";
import type { FileWindows } from "./fileWindows";
import { showFailure } from "./notifications";
import type { Server } from "./server";
import { showInTerminal } from "./terminalOutput";

// These commands of the server include unsaved text, and the chip and the profile of hovers.
const INSPECT = "hlo.server.inspect";
const TIMELINE = "hlo.server.timeline";
const UNSAVED_COLUMNS = 100; // of a chart, since the width of the new terminal is not known

/** Shows the output of `hlo-lsp check`, `inspect`, and `summary --timeline` in a terminal, for which it is made. */
export class Terminal {
  /** @param folder the working directory; Python imports from it first, so it is not a workspace folder */
  constructor(
    private readonly server: Server,
    private readonly windows: FileWindows,
    private readonly folder: string,
  ) {}

  /** Check all dumps in a folder; without an argument, the user selects it. */
  async check(folder?: vscode.Uri): Promise<void> {
    const chosen = folder ?? (await this.chosenFolder());
    if (chosen !== undefined) {
      await this.run("check", chosen.fsPath);
    }
  }

  /** Inspect the dump at the cursor, with the server, which has read the compile. */
  async inspect(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) {
      return;
    }
    const { uri, range } = await this.windows.place(editor.document.uri, editor.selection.active);
    await this.showAnswer("inspect", INSPECT, (convert) => [convert.asUri(uri), convert.asPosition(range.start)]);
  }

  /** Show the occupied bytes over the schedule, of a file or of the dump in the active editor. */
  async timeline(file?: vscode.Uri): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (file !== undefined) {
      await this.run("summary", "--timeline", file.fsPath);
      return;
    }
    if (editor === undefined) {
      return;
    }
    const { uri, range } = await this.windows.place(editor.document.uri, editor.selection.active);
    if (uri.scheme !== "file" || editor.document.isDirty) {
      const rest = [range.start.line, UNSAVED_COLUMNS, null]; // null: no step
      await this.showAnswer("timeline", TIMELINE, (convert) => [convert.asUri(uri), ...rest]);
      return;
    }
    await this.run("summary", "--timeline", uri.fsPath);
  }

  private async showAnswer(
    name: string,
    command: string,
    argumentsOf: (convert: LanguageClient["code2ProtocolConverter"]) => unknown[],
  ): Promise<void> {
    const client = await this.server.client();
    if (client === undefined) {
      return; // the error message is already shown
    }
    const params = { command, arguments: argumentsOf(client.code2ProtocolConverter) };
    try {
      showInTerminal(`hlo-lsp ${name}`, String(await client.sendRequest(ExecuteCommandRequest.type, params)));
    } catch (error) {
      showFailure(error);
    }
  }

  private async chosenFolder(): Promise<vscode.Uri | undefined> {
    const folders = vscode.workspace.workspaceFolders ?? [];
    if (folders.length > 1) {
      return (await vscode.window.showWorkspaceFolderPick({ placeHolder: "Select a folder to check" }))?.uri;
    }
    if (folders[0] !== undefined) {
      return folders[0].uri;
    }
    const options = { canSelectFolders: true, canSelectFiles: false, openLabel: "Check" };
    return (await vscode.window.showOpenDialog(options))?.[0];
  }

  private async run(command: "check" | "summary", ...args: readonly string[]): Promise<void> {
    const program = await this.server.program();
    if (program === undefined) {
      return; // the error message is already shown
    }
    const task = new vscode.Task(
      { type: "hlo", command },
      vscode.TaskScope.Workspace,
      command,
      "hlo-lsp",
      new vscode.ProcessExecution(program.command, [...program.args, command, ...args], { cwd: this.folder }),
    );
    task.presentationOptions = { focus: false, clear: true, panel: vscode.TaskPanelKind.Dedicated };
    await vscode.tasks.executeTask(task);
  }
}
