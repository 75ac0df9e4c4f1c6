import * as vscode from "vscode";
import { ExecuteCommandRequest } from "vscode-languageclient";
import type { FileWindows } from "./fileWindows";
import { showFailure } from "./notifications";
import type { Server } from "./server";

const SCHEME = "hlo-summary";
const SUMMARY = "hlo.server.summary"; // this command of the server includes unsaved text

/** Shows the memory summary of a compile as a Markdown preview beside its file. */
export class MemorySummary implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly server: Server,
    private readonly windows: FileWindows,
  ) {}

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.texts.delete(uri.toString())),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /**
   * Show the summary of the compile of the active editor, or that of a code lens or of the tree.
   *
   * @param lensUri the URI of the document of the lens, as the server sent it
   * @param lensLine its line, which selects a section of a stdout dump
   */
  async show(lensUri?: unknown, lensLine = 0): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const document = typeof lensUri === "string" ? vscode.Uri.parse(lensUri) : editor?.document.uri;
    const client = document === undefined ? undefined : await this.server.client();
    if (document === undefined || client === undefined) {
      return; // the error message is already shown
    }
    const position = new vscode.Position(lensLine, 0);
    const start = typeof lensUri === "string" ? position : (editor?.selection.active ?? position);
    const { uri, range } = await this.windows.place(document, start);
    const args = [client.code2ProtocolConverter.asUri(uri), range.start.line];
    try {
      const params = { command: SUMMARY, arguments: args };
      const text: unknown = await client.sendRequest(ExecuteCommandRequest.type, params);
      const path = `/Memory Summary${programOf(String(text))}.md`;
      const page = vscode.Uri.from({ scheme: SCHEME, path, query: uri.toString() });
      this.texts.set(page.toString(), String(text));
      this.changed.fire(page);
      await vscode.commands.executeCommand("markdown.showPreviewToSide", page);
    } catch (error) {
      showFailure(error);
    }
  }
}

/** Return the name of the program in a summary or in the report on a message, for the title of the tab. */
function programOf(text: string): string {
  const name = /^# Memory of `([^`]+)`/m.exec(text)?.[1] ?? /^([\w.-]+): /m.exec(text)?.[1];
  return name === undefined ? "" : ` ${name.replace(/[\\/]/g, "_")}`;
}
