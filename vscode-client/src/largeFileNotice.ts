import { open } from "node:fs/promises";
import { basename } from "node:path";
import * as vscode from "vscode";
import { stampOfLarge, type FileWindows } from "./fileWindows";
import { detectLanguage, LANGUAGES, type Language } from "./languages";
import { explain, serviceFor } from "./largeFiles";
import { withoutLinks } from "./notifications";

const WINDOW = "Open Window at Line...";
const TURN_ON = "Turn Off Limits";
const HEAD_BYTES = 65_536; // enough to detect the language

/** Explains, once for each large dump, which features VS Code turns off for it. */
export class LargeFileNotice {
  private readonly notified = new Set<string>();

  constructor(private readonly windows: FileWindows) {}

  register(): vscode.Disposable {
    for (const document of vscode.workspace.textDocuments) {
      void this.opened(document);
    }
    for (const tab of vscode.window.tabGroups.all.flatMap((group) => group.tabs)) {
      void this.shown(tab);
    }
    return vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument((document) => void this.opened(document)),
      // VS Code does not report a document for a file above the limit, only its tab.
      vscode.window.tabGroups.onDidChangeTabs(({ opened }) => {
        opened.forEach((tab) => void this.shown(tab));
      }),
    );
  }

  /** Ask for a line and open a window on it; the default is the file of the active tab. */
  async ask(uri = activeFile()): Promise<void> {
    const stamp = uri && (await stampOfLarge(uri));
    if (uri === undefined || stamp === undefined) {
      void vscode.window.showInformationMessage("Windows are for dumps larger than 50 MiB. Open this file directly.");
      return;
    }
    const line = await vscode.window.showInputBox({
      title: basename(uri.fsPath),
      prompt: "Line to show, with the records around it",
      value: "1",
      validateInput: (text) => (/^[1-9]\d*$/.test(text) ? undefined : "Enter a line number, 1 or greater."),
    });
    if (line !== undefined && !(await this.windows.open(uri, Number(line) - 1, stamp))) {
      void vscode.window.showErrorMessage(`The HLO language server cannot show line ${line} of this file.`);
    }
  }

  private async opened(document: vscode.TextDocument): Promise<void> {
    const { uri, languageId } = document;
    if (uri.scheme !== "file" || !isDumpLanguage(languageId)) {
      return;
    }
    const settings = vscode.workspace.getConfiguration("editor", document);
    if (settings.get("largeFileOptimizations") === false) {
      return;
    }
    const { size } = await vscode.workspace.fs.stat(uri);
    if (serviceFor(size, document.lineCount) === "reduced" && this.isFirstNotice(uri)) {
      const message = withoutLinks(explain(basename(uri.fsPath), size, "reduced"));
      if ((await vscode.window.showInformationMessage(message, TURN_ON)) === TURN_ON) {
        await settings.update("largeFileOptimizations", false, vscode.ConfigurationTarget.Global, true);
        void vscode.window.showInformationMessage("Reopen the file to apply the change.");
      }
    }
  }

  private async shown({ input }: vscode.Tab): Promise<void> {
    if (!(input instanceof vscode.TabInputText) || (await stampOfLarge(input.uri)) === undefined) {
      return;
    }
    const { uri } = input;
    const { size } = await vscode.workspace.fs.stat(uri);
    if ((await isDump(uri.fsPath)) && this.isFirstNotice(uri)) {
      const message = withoutLinks(explain(basename(uri.fsPath), size, "none"));
      const answer = await vscode.window.showInformationMessage(message, WINDOW);
      if (answer === WINDOW) {
        await this.ask(uri);
      }
    }
  }

  private isFirstNotice(uri: vscode.Uri): boolean {
    const key = uri.toString();
    return !this.notified.has(key) && this.notified.add(key).has(key);
  }
}

function activeFile(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputText ? input.uri : undefined;
}

function isDumpLanguage(languageId: string): boolean {
  return LANGUAGES.includes(languageId as Language);
}

async function isDump(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(HEAD_BYTES) });
    return detectLanguage(buffer.toString("utf8", 0, bytesRead).split(/\r?\n/)) !== undefined;
  } finally {
    await file.close();
  }
}
