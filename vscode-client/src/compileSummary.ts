import * as vscode from "vscode";
import { ExecuteCommandRequest } from "vscode-languageclient";
import type { FileWindows } from "./fileWindows";
import { showFailure } from "./notifications";
import type { Pages } from "./previewPage";
import type { Server } from "./server";

/** A page of the server about a compile; its command includes unsaved text. */
interface Page {
  readonly command: string;
  readonly title: string;
}

export const MEMORY_SUMMARY: Page = { command: "hlo.server.summary", title: "Summary" };
export const TIME_SUMMARY: Page = { command: "hlo.server.timeSummary", title: "Cost and Time" };

/** Shows a page about a compile as a Markdown preview beside its file. */
export class CompileSummary {
  constructor(
    private readonly server: Server,
    private readonly windows: FileWindows,
    private readonly pages: Pages,
  ) {}

  /**
   * Show a page about the compile of the active editor, or that of a code lens or of the tree.
   *
   * @param page the page
   * @param lensUri the URI of the document of the lens, as the server sent it
   * @param lensLine its line, which selects a section of a stdout dump
   */
  async show({ command, title }: Page, lensUri?: unknown, lensLine = 0): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const document = typeof lensUri === "string" ? vscode.Uri.parse(lensUri) : editor?.document.uri;
    const client = document === undefined ? undefined : await this.server.clientForCommand();
    if (document === undefined || client === undefined) {
      return;
    }
    const position = new vscode.Position(lensLine, 0);
    const start = typeof lensUri === "string" ? position : (editor?.selection.active ?? position);
    const { uri, range } = await this.windows.place(document, start);
    const args = [client.code2ProtocolConverter.asUri(uri), range.start.line];
    try {
      const text = String(await client.sendRequest(ExecuteCommandRequest.type, { command, arguments: args }));
      await this.pages.show(`${title}${programOf(text)}`, text, true);
    } catch (error) {
      showFailure(error);
    }
  }
}

/** Return the name of the program in a page or in the report on a message, for the title of the tab. */
function programOf(text: string): string {
  const name = /^# (?:Memory|Time) of `([^`]+)`/m.exec(text)?.[1] ?? /^([\w.-]+): /m.exec(text)?.[1];
  return name === undefined ? "" : ` ${name}`;
}
