import * as vscode from "vscode";
import { detectLanguage, MAX_DETECTION_LINES } from "./languages";

/**
 * Set the language of dumps when they are opened, whatever their names.
 *
 * VS Code opens every `.txt` file as plain text, and compares first lines only for unknown
 * extensions. If the user changes the language back to plain text, it stays until the tab is closed.
 */
export function detectDumps(): vscode.Disposable {
  const detected = new Set<string>();
  const detect = async (document: vscode.TextDocument): Promise<void> => {
    const key = document.uri.toString();
    if (document.languageId !== "plaintext" || document.uri.scheme !== "file" || detected.has(key)) {
      return;
    }
    const count = Math.min(document.lineCount, MAX_DETECTION_LINES);
    const language = detectLanguage(Array.from({ length: count }, (_, line) => document.lineAt(line).text));
    if (language !== undefined) {
      detected.add(key);
      await vscode.languages.setTextDocumentLanguage(document, language);
    }
  };
  for (const document of vscode.workspace.textDocuments) {
    void detect(document);
  }
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument((document) => void detect(document)),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      for (const { input } of closed) {
        if (input instanceof vscode.TabInputText) {
          detected.delete(input.uri.toString());
        }
      }
    }),
  );
}
