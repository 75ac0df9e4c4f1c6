import * as vscode from "vscode";
import type { LanguageClient, Location } from "vscode-languageclient/node";
import type { FileWindows } from "./fileWindows";

/** A buffer, an instruction, or a Python line in a list; its place is null if no text has it. */
export interface Entry {
  readonly name: string;
  readonly text: string;
  readonly location: Location | null;
}

interface EntryItem extends vscode.QuickPickItem {
  readonly entry?: Entry;
}

/** Let the user choose one of the entries of a list, which can have titled parts, and open its place. */
export async function chooseEntry(
  client: LanguageClient,
  windows: FileWindows,
  options: { title: string; placeHolder: string },
  parts: readonly { title?: string; entries: readonly Entry[] }[],
): Promise<void> {
  const items = parts.flatMap(({ title, entries }): EntryItem[] => [
    ...(title === undefined ? [] : [{ label: title, kind: vscode.QuickPickItemKind.Separator }]),
    ...entries.map((entry) => ({ label: entry.name, description: entry.text, entry })),
  ]);
  const chosen = await vscode.window.showQuickPick(items, { ...options, matchOnDescription: true });
  const location = chosen?.entry?.location;
  if (location != null) {
    const { uri, range } = client.protocol2CodeConverter.asLocation(location);
    const place = await windows.locate(uri, range);
    await vscode.window.showTextDocument(place.uri, { selection: place.range, preview: true });
  }
}
