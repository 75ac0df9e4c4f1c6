import * as vscode from "vscode";
import type { Location, Position } from "vscode-languageclient";
import type { FileWindows } from "./fileWindows";
import type { Server } from "./server";

/**
 * `hlo.showPlaces`: what a click on a lens does, show places beside the line that the lens is on.
 *
 * The server names it in lenses with arguments of the protocol's types: the URI of the document, a
 * position in it, the places.
 */
export async function showPlaces(
  server: Server,
  windows: FileWindows,
  uri: string,
  position: Position,
  locations: Location[],
): Promise<void> {
  const client = await server.client();
  if (client === undefined) {
    return;
  }
  const { protocol2CodeConverter: convert } = client;
  const places = await windows.led(await convert.asReferences(locations));
  await vscode.commands.executeCommand(
    "editor.action.showReferences",
    convert.asUri(uri),
    convert.asPosition(position),
    places ?? [],
  );
}
