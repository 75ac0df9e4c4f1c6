import * as vscode from "vscode";
import { RequestType, type Location } from "vscode-languageclient/node";
import type { FileWindows } from "./fileWindows";
import { showFailure } from "./notifications";
import type { Server } from "./server";

interface Params {
  readonly uri: string;
  readonly position: { readonly line: number; readonly character: number };
  readonly direction: "previous" | "next";
}

interface AdjacentPlace {
  readonly location: Location;
  readonly label: string;
  readonly message: string | null;
}

const AdjacentPassRequest = new RequestType<Params, AdjacentPlace, void>("hlo/adjacentPass");
const MESSAGE_MILLISECONDS = 10_000;

/** Go from the instruction at the cursor to the same one in the text of the previous or next pass. */
export async function goToPass(
  server: Server,
  windows: FileWindows,
  direction: "previous" | "next",
): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const client = editor === undefined ? undefined : await server.clientForCommand();
  if (editor === undefined || client === undefined) {
    return; // the error message is already shown
  }
  const { uri, range } = await windows.place(editor.document.uri, editor.selection.active);
  const { code2ProtocolConverter: toServer, protocol2CodeConverter: toCode } = client;
  try {
    const params = { uri: toServer.asUri(uri), position: toServer.asPosition(range.start), direction };
    const { location, label, message } = await client.sendRequest(AdjacentPassRequest, params);
    const found = toCode.asLocation(location);
    const place = await windows.locate(found.uri, found.range);
    await vscode.window.showTextDocument(place.uri, { selection: place.range, preview: true });
    vscode.window.setStatusBarMessage(message ?? label, MESSAGE_MILLISECONDS);
  } catch (error) {
    showFailure(error);
  }
}
