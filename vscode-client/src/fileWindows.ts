import * as vscode from "vscode";
import {
  DeclarationRequest,
  DefinitionRequest,
  ErrorCodes,
  HoverRequest,
  ReferencesRequest,
  RequestType,
  ResponseError,
  type LanguageClient,
} from "vscode-languageclient/node";
import { serviceFor } from "./largeFiles";
import type { Server } from "./server";
import { inFile, inWindow, nameOf, SCHEME, Windows, type Window, type WindowReply } from "./windows";

/** Request the whole records around a line, counted from 0, of a file. */
const WindowRequest = new RequestType<{ uri: string; line: number }, WindowReply | null, void>("hlo/window");
const MAX_CONVERTED_PLACES = 64; // of one result; the other places open the file itself

type Places = vscode.Location | vscode.Location[] | vscode.LocationLink[];

/** Windows on files that VS Code does not share with extensions, with hovers and navigation. */
export class FileWindows implements vscode.TextDocumentContentProvider {
  private readonly windows = new Windows((file, line) => this.request(file, line));
  private unsupported: LanguageClient | undefined; // its server has no `hlo/window`

  constructor(
    private readonly server: Server,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  register(): vscode.Disposable {
    const selector = { scheme: SCHEME };
    return vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerHoverProvider(selector, {
        provideHover: (document, position, token) =>
          this.ask(document, position, async (client, params, window) => {
            const hover = client.protocol2CodeConverter.asHover(
              await client.sendRequest(HoverRequest.type, params, token),
            );
            return hover && new vscode.Hover(hover.contents, hover.range && rangeIn(window, hover.range));
          }),
      }),
      vscode.languages.registerDefinitionProvider(selector, {
        provideDefinition: (document, position, token) =>
          this.ask(document, position, async (client, params) => {
            const found = await client.sendRequest(DefinitionRequest.type, params, token);
            return this.inWindows(await client.protocol2CodeConverter.asDefinitionResult(found, token));
          }),
      }),
      vscode.languages.registerDeclarationProvider(selector, {
        provideDeclaration: (document, position, token) =>
          this.ask(document, position, async (client, params) => {
            const found = await client.sendRequest(DeclarationRequest.type, params, token);
            return this.inWindows(await client.protocol2CodeConverter.asDeclarationResult(found, token));
          }),
      }),
      vscode.languages.registerReferenceProvider(selector, {
        provideReferences: (document, position, context, token) =>
          this.ask(document, position, async (client, params) => {
            const withContext = { ...params, context };
            const found = await client.sendRequest(ReferencesRequest.type, withContext, token);
            return this.inWindows(await client.protocol2CodeConverter.asReferences(found, token));
          }),
      }),
    );
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const window = await this.windows.named(uri);
    if (window === undefined) {
      throw vscode.FileSystemError.Unavailable("The HLO language server cannot show these lines.");
    }
    return window.text;
  }

  /** Convert places in files that are too large to places in windows. */
  async inWindows<Found extends Places>(found: Found | null | undefined): Promise<Found | null | undefined> {
    if (!Array.isArray(found)) {
      return found && ((await this.toWindow(found)) as Found);
    }
    const places: (vscode.Location | vscode.LocationLink)[] = [];
    for (const [count, place] of found.entries()) {
      places.push(count < MAX_CONVERTED_PLACES ? await this.toWindow(place) : place);
    }
    return places as Found;
  }

  /** Return the location that shows a range of a file: in the file or in a window. */
  async locate(uri: vscode.Uri, range: vscode.Range): Promise<vscode.Location> {
    const stamp = await stampOfLarge(uri);
    const window = stamp === undefined ? undefined : await this.windows.at(uri.toString(), range.start.line, stamp);
    return window === undefined
      ? new vscode.Location(uri, range)
      : new vscode.Location(uriOf(window), rangeIn(window, range));
  }

  /** Return the location in the file for a position in a window; other positions stay the same. */
  async place(uri: vscode.Uri, position: vscode.Position): Promise<vscode.Location> {
    const window = uri.scheme === SCHEME ? await this.windows.named(uri) : undefined;
    return window === undefined
      ? new vscode.Location(uri, position)
      : new vscode.Location(vscode.Uri.parse(window.file), positionOf(inFile(window, position)));
  }

  /** Open the window that contains a line of a file; return false if the server has none. */
  async open(uri: vscode.Uri, line: number, stamp: string): Promise<boolean> {
    const window = line < 0 ? undefined : await this.windows.at(uri.toString(), line, stamp);
    if (window === undefined) {
      return false;
    }
    const start = positionOf({ line: Math.max(0, line - window.firstLine), character: 0 });
    await vscode.window.showTextDocument(uriOf(window), { selection: new vscode.Range(start, start) });
    return true;
  }

  /** Open the lines after a window (1) or before it (-1). */
  async openAdjacent(uri: vscode.Uri, direction: 1 | -1): Promise<void> {
    const window = await this.windows.named(uri);
    if (window !== undefined) {
      const line = direction > 0 ? window.firstLine + window.lineCount : window.firstLine - 1;
      if (!(await this.open(vscode.Uri.parse(window.file), line, window.stamp))) {
        vscode.window.setStatusBarMessage(direction > 0 ? "End of file" : "Start of file", 3_000);
      }
    }
  }

  private async request(file: string, line: number): Promise<WindowReply | undefined> {
    const client = await this.server.client();
    if (client === undefined || client === this.unsupported) {
      return undefined;
    }
    const uri = client.code2ProtocolConverter.asUri(vscode.Uri.parse(file));
    try {
      return (await client.sendRequest(WindowRequest, { uri, line })) ?? undefined;
    } catch (error) {
      if (error instanceof ResponseError && error.code === ErrorCodes.MethodNotFound) {
        this.unsupported = client;
      }
      this.log.warn(`no window on line ${line + 1} of ${uri}: ${String(error)}`);
      return undefined;
    }
  }

  private async toWindow(place: vscode.Location | vscode.LocationLink): Promise<vscode.Location | vscode.LocationLink> {
    if (!("targetUri" in place)) {
      return this.locate(place.uri, place.range);
    }
    const { uri, range } = await this.locate(place.targetUri, place.targetSelectionRange ?? place.targetRange);
    return uri.toString() === place.targetUri.toString()
      ? place
      : { ...place, targetUri: uri, targetRange: range, targetSelectionRange: range };
  }

  private async ask<Answer>(
    document: vscode.TextDocument,
    position: vscode.Position,
    answer: (
      client: LanguageClient,
      params: { textDocument: { uri: string }; position: { line: number; character: number } },
      window: Window,
    ) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const [client, window] = [await this.server.client(), await this.windows.named(document.uri)];
    if (client === undefined || window === undefined) {
      return undefined;
    }
    const uri = client.code2ProtocolConverter.asUri(vscode.Uri.parse(window.file));
    return answer(client, { textDocument: { uri }, position: inFile(window, position) }, window);
  }
}

/** Return the modification time of a file that VS Code does not share with extensions, else undefined. */
export async function stampOfLarge(uri: vscode.Uri): Promise<string | undefined> {
  if (uri.scheme !== "file") {
    return undefined;
  }
  try {
    const { size, mtime } = await vscode.workspace.fs.stat(uri);
    return serviceFor(size) === "none" ? String(mtime) : undefined;
  } catch {
    return undefined;
  }
}

function uriOf(window: Window): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, ...nameOf(window) });
}

function rangeIn(window: Window, range: vscode.Range): vscode.Range {
  const { start, end } = inWindow(window, range);
  return new vscode.Range(positionOf(start), positionOf(end));
}

function positionOf({ line, character }: { line: number; character: number }): vscode.Position {
  return new vscode.Position(line, character);
}
