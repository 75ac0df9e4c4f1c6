import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";

/** The folder of the program in the sample dump. */
const PROGRAM_FOLDER = "/home/user/hlo-sample";

/** Return the settings with an entry of `hlo.sourceMap` for the program of the sample dump, if there is none. */
export function withSampleSources(settings: unknown, folder: string): unknown {
  const given = typeof settings === "object" && settings !== null ? settings : {};
  const sourceMap: unknown = "sourceMap" in given ? given.sourceMap : undefined;
  return { ...given, sourceMap: { [PROGRAM_FOLDER]: folder, ...(typeof sourceMap === "object" ? sourceMap : {}) } };
}

/**
 * Open a file of the sample dump of the extension.
 *
 * @param folder the folder of the dump
 * @param ending the end of the name of the file
 * @param text a part of the line to show; without it, the first line
 */
export async function openSample(
  folder: string,
  ending = "-buffer-assignment.txt",
  text = "",
): Promise<void> {
  const name = (await readdir(folder)).find((each) => each.endsWith(ending));
  if (name === undefined) {
    throw new Error(`The sample dump has no file whose name ends with ${ending}.`);
  }
  const document = await vscode.workspace.openTextDocument(join(folder, name));
  const lines = Array.from({ length: document.lineCount }, (_, line) => line);
  const line = lines.find((each) => document.lineAt(each).text.includes(text)) ?? 0;
  const column = document.lineAt(line).text.indexOf(text);
  const start = new vscode.Position(line, Math.max(0, column));
  const editor = await vscode.window.showTextDocument(document, {
    preview: false,
    selection: new vscode.Range(start, start),
  });
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.AtTop);
}
