import * as vscode from "vscode";
import { detectLanguage, MAX_MESSAGE_LINES } from "./languages";

/**
 * Set the language of dumps when they are opened, whatever their names.
 *
 * VS Code opens every `.txt` file as plain text, and compares first lines only for unknown
 * extensions. A log becomes an out-of-memory message if it contains one. If the user changes the language back to plain text, it stays until the tab is closed.
 */
export function detectDumps(): vscode.Disposable {
  const detected = new Set<string>();
  const detect = async (document: vscode.TextDocument): Promise<void> => {
    const key = document.uri.toString();
    const isLog = document.languageId === "log";
    if ((document.languageId !== "plaintext" && !isLog) || document.uri.scheme !== "file" || detected.has(key)) {
      return;
    }
    const text = document.getText(new vscode.Range(0, 0, MAX_MESSAGE_LINES, 0));
    const language = detectLanguage(text.split(/\r?\n/));
    if (language !== undefined && (!isLog || language === "xla-oom")) {
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
