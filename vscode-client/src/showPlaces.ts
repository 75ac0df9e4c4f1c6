import * as vscode from "vscode";
import type { Location, Position } from "vscode-languageclient";
import type { FileWindows } from "./fileWindows";
import type { Server } from "./server";

/**
 * Run the command `hlo.showPlaces` of a code lens: go to the only place, or show several beside the
 * line of the lens.
 *
 * The server sends the arguments as types of the protocol: the URI of the document, a position in
 * it, and the places.
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
  const places = await windows.inWindows(await convert.asReferences(locations));
  await vscode.commands.executeCommand(
    "editor.action.goToLocations",
    convert.asUri(uri),
    convert.asPosition(position),
    places ?? [],
    "peek",
  );
}
