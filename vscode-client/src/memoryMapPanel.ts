import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { RequestType } from "vscode-languageclient/node";
import { SCHEME as COMPARED, type CompileComparison, type Sides } from "./comparison";
import type { FileWindows } from "./fileWindows";
import type { FileLine, FromPage, ToPage } from "./memoryMap/host";
import type { MemoryMapDocument } from "./memoryMap/model";
import type { Server } from "./server";
import { SCHEME } from "./windows";

/** Request the memory map of the compile of a file, or the maps of two; `line` selects a section of a stdout dump. */
const MemoryMapRequest = new RequestType<FileLine | Sides, MemoryMapDocument | null, void>("hlo/memoryMap");
const RELOAD_MILLISECONDS = 700;

/** A panel beside the editor with the memory map of the dump in the editor, or of the two that it compares. */
export class MemoryMapPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: FileLine | Sides | undefined;
  private files: ReadonlySet<string> = new Set();
  private opened: readonly FileLine[] = [];
  private reload: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners: vscode.Disposable;

  constructor(
    private readonly server: Server,
    private readonly windows: FileWindows,
    private readonly comparison: CompileComparison,
    private readonly extension: vscode.Uri,
  ) {
    this.listeners = vscode.Disposable.from(
      server.onDidChange(() => {
        if (server.state === "running" && this.panel !== undefined) {
          void this.load();
        }
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        void this.showCursor(textEditor);
      }),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        void this.showCursor(editor);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        // A comparison reads the files on disk.
        const isOne = this.shown !== undefined && "uri" in this.shown;
        if (isOne && contentChanges.length > 0 && this.files.has(document.uri.toString())) {
          this.loadSoon();
        }
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("hlo.chip") || event.affectsConfiguration("hlo.profile")) {
          this.loadSoon();
        }
      }),
    );
  }

  dispose(): void {
    clearTimeout(this.reload);
    this.listeners.dispose();
    this.panel?.dispose();
  }

  /** Show the map of a dump, or those of two; by default of what is in the active editor. */
  async show(place = placeOfCursor()): Promise<void> {
    if (place === undefined) {
      void vscode.window.showInformationMessage("Open a dump to show its memory map.");
      return;
    }
    if ((await this.server.clientForCommand()) === undefined) {
      return;
    }
    this.shown = place;
    if (this.panel === undefined) {
      this.panel = this.create();
    } else {
      this.panel.reveal(undefined, true);
      await this.load();
    }
  }

  /** Load the map again after the dump or its times changed. */
  loadSoon(): void {
    clearTimeout(this.reload);
    this.reload = setTimeout(() => {
      if (this.panel !== undefined) {
        void this.load();
      }
    }, RELOAD_MILLISECONDS);
  }

  private create(): vscode.WebviewPanel {
    const folder = vscode.Uri.joinPath(this.extension, "dist");
    const panel = vscode.window.createWebviewPanel(
      "hlo.memoryMap",
      "Memory Map",
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, retainContextWhenHidden: true, localResourceRoots: [folder] },
    );
    panel.iconPath = vscode.Uri.joinPath(this.extension, "icons", "extension.png");
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.files = new Set();
    });
    panel.webview.onDidReceiveMessage((message: FromPage) => void this.receive(message));
    panel.webview.html = pageOf(panel.webview, folder);
    return panel;
  }

  private async receive(message: FromPage): Promise<void> {
    switch (message.type) {
      case "ready":
        await this.load();
        break;
      case "open":
        await this.open(message.places, message.others);
        break;
    }
  }

  private post(message: ToPage): void {
    void this.panel?.webview.postMessage(message);
  }

  private async load(): Promise<void> {
    const { shown } = this;
    const client = await this.server.client();
    if (client === undefined || shown === undefined) {
      return;
    }
    const title = { location: vscode.ProgressLocation.Window, title: "Computing memory map" };
    try {
      const document = await vscode.window.withProgress(title, () => client.sendRequest(MemoryMapRequest, shown));
      this.showDocument(document);
    } catch (error) {
      this.post({ type: "error", message: error instanceof Error ? error.message : String(error) });
    }
  }

  private showDocument(document: MemoryMapDocument | null): void {
    const modules = (document?.modules ?? []).map((found) => {
      const { assignment, module: text } = found.files;
      return { ...found, files: { assignment: normal(assignment), module: normal(text) } };
    });
    if (document === null || modules.length === 0) {
      this.post({ type: "error", message: "This file is not an HLO module or XLA memory dump." });
      return;
    }
    const files = modules.flatMap((module) => Object.values(module.files));
    this.files = new Set(files.filter((uri) => uri !== null));
    if (this.panel !== undefined) {
      this.panel.title = `Memory Map: ${[...new Set(modules.map(({ name }) => name))].join(" ↔ ")}`;
    }
    this.post({ type: "data", document: { ...document, modules } });
    void this.showCursor(vscode.window.activeTextEditor);
  }

  /** Highlight the box of the line with the cursor, unless the line was opened from the map. */
  private async showCursor(editor: vscode.TextEditor | undefined): Promise<void> {
    if (editor === undefined) {
      return;
    }
    const { document, selection } = editor;
    const cursor = { uri: document.uri.toString(), line: selection.active.line };
    const isCompared = document.uri.scheme === COMPARED;
    const place = isCompared ? await this.comparison.fileLine(document.uri, cursor.line) : cursor;
    if (place === undefined || !this.files.has(place.uri)) {
      return;
    }
    if (!this.opened.some(({ uri, line }) => uri === place.uri && line === place.line)) {
      this.opened = [];
      this.post({ type: "cursor", ...place });
    }
  }

  /** Open the place in the file that is shown in an editor, else the first one. */
  private async open(places: readonly FileLine[], others: readonly FileLine[]): Promise<void> {
    this.opened = [...places, ...others];
    const revealed = await this.comparison.reveal(this.opened);
    if (revealed.length > 0) {
      return;
    }
    const editors = vscode.window.visibleTextEditors;
    const editorOf = ({ uri }: FileLine): vscode.TextEditor | undefined =>
      editors.find(({ document }) => document.uri.toString() === uri);
    const place = places.find((each) => editorOf(each) !== undefined) ?? places[0];
    if (place === undefined) {
      return;
    }
    this.opened = [place];
    const range = new vscode.Range(place.line, 0, place.line, 0);
    const { uri, range: selection } = await this.windows.locate(vscode.Uri.parse(place.uri), range);
    const viewColumn = (editorOf(place) ?? editors[0])?.viewColumn ?? vscode.ViewColumn.One;
    await vscode.window.showTextDocument(uri, { viewColumn, selection, preserveFocus: true, preview: true });
  }
}

function placeOfCursor(): FileLine | Sides | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return undefined;
  }
  const { uri } = editor.document;
  if (uri.scheme === COMPARED) {
    return JSON.parse(uri.query) as Sides;
  }
  // A window on a large file has the URI of the file in its own.
  return { uri: uri.scheme === SCHEME ? uri.query : uri.toString(), line: editor.selection.active.line };
}

/** Return a URI of the server as VS Code writes it. */
function normal(uri: string | null): string | null {
  return uri === null ? null : vscode.Uri.parse(uri).toString();
}

function pageOf(webview: vscode.Webview, folder: vscode.Uri): string {
  const resource = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
  const nonce = randomBytes(16).toString("hex");
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}';`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Memory Map</title>
<link rel="stylesheet" href="${resource("memoryMap.css")}">
</head>
<body>
<div id="memory-map" class="memory-map"></div>
<script nonce="${nonce}" src="${resource("memoryMap.js")}"></script>
</body>
</html>`;
}
