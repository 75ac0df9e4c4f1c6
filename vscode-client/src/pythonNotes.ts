import * as vscode from "vscode";
import { RequestType } from "vscode-languageclient/node";
import { chooseEntry, type Entry } from "./entries";
import type { FileWindows } from "./fileWindows";
import type { Server } from "./server";

interface Note {
  readonly line: number;
  readonly text: string;
  readonly tooltip: string;
  readonly buffers: readonly Entry[];
}

const NotesRequest = new RequestType<{ uri: string; text: string }, { lines: readonly Note[] } | null, void>("hlo/sourceLines");
const SELECTOR: vscode.DocumentSelector = { language: "python", scheme: "file" };
const DUMPS = "**/*-buffer-assignment.txt";
const SHOW = "hlo.showLineBuffers";

/**
 * Lenses in Python files: what a line owns at the peak of the dumped program, and its time.
 *
 * The client asks for them itself, so that the server needs no Python documents for them. The server
 * answers at once, because VS Code shows the lenses of all extensions together.
 */
export class PythonNotes implements vscode.CodeLensProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private hasDumps: Thenable<boolean> | undefined;

  constructor(
    private readonly server: Server,
    private readonly windows: FileWindows,
  ) {}

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      this.changed,
      vscode.languages.registerCodeLensProvider(SELECTOR, this),
      vscode.commands.registerCommand(SHOW, (note: Note) => this.show(note)),
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        this.hasDumps = undefined;
        this.changed.fire();
      }),
      this.server.onDidChange(() => {
        this.changed.fire();
      }),
      this.server.onDidChangeSourceLines(() => {
        this.changed.fire();
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("hlo.pythonNotes") || change.affectsConfiguration("hlo.sourceMap")) {
          this.changed.fire();
        }
      }),
    );
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    if (vscode.workspace.getConfiguration("hlo").get("pythonNotes") === "off") {
      return [];
    }
    if (this.server.state !== "running") {
      void this.startWithDumps();
      return [];
    }
    const client = await this.server.client();
    const answer = await client?.sendRequest(NotesRequest, {
      uri: client.code2ProtocolConverter.asUri(document.uri),
      text: document.getText(), // the server moves the lines with the edits since the compile
    });
    return (answer?.lines ?? [])
      .filter(({ line }) => line < document.lineCount)
      .map((note) => {
        const { text: title, tooltip } = note;
        return new vscode.CodeLens(document.lineAt(note.line).range, {
          title,
          tooltip,
          command: SHOW,
          arguments: [note],
        });
      });
  }

  /** Start the server for a Python file if the workspace contains dumps. */
  private async startWithDumps(): Promise<void> {
    this.hasDumps ??= vscode.workspace.findFiles(DUMPS, undefined, 1).then(({ length }) => length > 0);
    if ((await this.hasDumps) && this.server.state === "idle") {
      await this.server.client();
    }
  }

  /** Let the user choose one of the buffers of a line, or of its instructions, and open its place. */
  private async show({ text, buffers }: Note): Promise<void> {
    const client = await this.server.client();
    if (client !== undefined) {
      await chooseEntry(client, this.windows, { title: text, placeHolder: "Go to a place" }, [{ entries: buffers }]);
    }
  }
}
