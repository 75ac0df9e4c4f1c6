import * as vscode from "vscode";
import { languageOf, SNIFFED_LINES } from "./languages";

/**
 * Text files that are dumps, whatever their names, become so when they are opened.
 *
 * VS Code takes every `.txt` for plain text and looks at first lines of unknown files only. Whoever
 * makes a dump plain text again by hand is left alone until its tab is closed.
 */
export function adoptDumps(): vscode.Disposable {
  const adopted = new Set<string>();
  const adopt = async (document: vscode.TextDocument): Promise<void> => {
    const key = document.uri.toString();
    if (document.languageId !== "plaintext" || document.uri.scheme !== "file" || adopted.has(key)) {
      return;
    }
    const count = Math.min(document.lineCount, SNIFFED_LINES);
    const language = languageOf(Array.from({ length: count }, (_, line) => document.lineAt(line).text));
    if (language !== undefined) {
      adopted.add(key);
      await vscode.languages.setTextDocumentLanguage(document, language);
    }
  };
  for (const document of vscode.workspace.textDocuments) {
    void adopt(document);
  }
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument((document) => void adopt(document)),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      for (const { input } of closed) {
        if (input instanceof vscode.TabInputText) {
          adopted.delete(input.uri.toString());
        }
      }
    }),
  );
}
