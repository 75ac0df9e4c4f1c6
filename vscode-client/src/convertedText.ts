import * as vscode from "vscode";
import { RequestType } from "vscode-languageclient/node";
import { CONVERTED_SCHEME, type Server } from "./server";

const TextRequest = new RequestType<{ uri: string }, { text: string }, void>("hlo/text");
const VIEW_TYPE = "hlo.convertedText";
const REPORT = "-memory-usage-report.pb";

/** Shows protos as the text that XLA prints for them, in an editor that cannot change them. */
export class ConvertedTexts
  implements vscode.TextDocumentContentProvider, vscode.CustomReadonlyEditorProvider
{
  constructor(private readonly server: Server) {}

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(CONVERTED_SCHEME, this),
      vscode.window.registerCustomEditorProvider(VIEW_TYPE, this),
    );
  }

  /** Return the text of the file that a URI of the scheme has as its query. */
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const client = await this.server.client();
    if (client === undefined) {
      return ""; // the error message is already shown
    }
    const file = client.code2ProtocolConverter.asUri(vscode.Uri.parse(uri.query, true));
    return (await client.sendRequest(TextRequest, { uri: file })).text;
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  /** Replace the editor of a proto by a text editor in the same place. */
  async resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    try {
      const document = await textOf(uri);
      const { viewColumn } = panel;
      panel.dispose();
      await vscode.window.showTextDocument(document, viewColumn === undefined ? {} : { viewColumn });
    } catch (error) {
      panel.webview.html = escaped(error instanceof Error ? error.message : String(error));
    }
  }
}

/** Return the text of a proto; XLA writes that of a memory report beside it. */
async function textOf(uri: vscode.Uri): Promise<vscode.TextDocument> {
  if (uri.path.endsWith(REPORT)) {
    return vscode.workspace.openTextDocument(uri.with({ path: uri.path.replace(/pb$/, "txt") }));
  }
  const text = vscode.Uri.from({ scheme: CONVERTED_SCHEME, path: `${uri.path}.txt`, query: uri.toString() });
  const opened = await vscode.workspace.openTextDocument(text);
  return vscode.languages.setTextDocumentLanguage(opened, "xla-stdout");
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${String(character.charCodeAt(0))};`);
}
