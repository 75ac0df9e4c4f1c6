import * as vscode from "vscode";
import { ExecuteCommandRequest } from "vscode-languageclient";
import type { FileWindows } from "./fileWindows";
import { printed } from "./printed";
import type { Server } from "./server";

const INSPECT = "hlo.server.inspect"; // a command of the server: it knows texts that are not saved

/** `hlo-lsp check` and `hlo-lsp inspect` in a terminal: what they print is made for one. */
export class Terminal {
  /** @param folder where they run; Python imports from there first, so it is no workspace */
  constructor(
    private readonly server: Server,
    private readonly windows: FileWindows,
    private readonly folder: string,
  ) {}

  /** Check all dumps below a folder, or below one that the user chooses. */
  async check(folder?: vscode.Uri): Promise<void> {
    const chosen = folder ?? (await this.chosenFolder());
    if (chosen !== undefined) {
      await this.run("check", [chosen.fsPath]);
    }
  }

  /** Print what stands at the cursor, from the files on disk; of a text that is not saved by its server. */
  async inspect(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) {
      return;
    }
    const { uri, range } = await this.windows.place(editor.document.uri, editor.selection.active);
    if (uri.scheme !== "file" || editor.document.isDirty) {
      await this.inspectUnsaved(uri, range.start);
      return;
    }
    const line = editor.document.lineAt(editor.selection.active.line).text;
    const column = Array.from(line.slice(0, range.start.character)).length; // in code points, as the server counts
    await this.run("inspect", [uri.fsPath, "--at", `${range.start.line + 1}:${column + 1}`]);
  }

  private async inspectUnsaved(uri: vscode.Uri, position: vscode.Position): Promise<void> {
    const client = await this.server.client();
    if (client === undefined) {
      return; // the error is on the screen
    }
    const { code2ProtocolConverter: convert } = client;
    const question = { command: INSPECT, arguments: [convert.asUri(uri), convert.asPosition(position)] };
    try {
      printed("hlo-lsp inspect", String(await client.sendRequest(ExecuteCommandRequest.type, question)));
    } catch (refusal) {
      void vscode.window.showInformationMessage(refusal instanceof Error ? refusal.message : String(refusal));
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

  private async run(command: "check" | "inspect", args: readonly string[]): Promise<void> {
    const program = await this.server.program();
    if (program === undefined) {
      return; // the error is on the screen
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
