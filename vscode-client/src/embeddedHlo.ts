import * as vscode from "vscode";
import type { Server } from "./server";

/** The languages of strings and fences that can contain HLO. The server registers for them itself. */
const LANGUAGES = ["c", "cpp", "cuda-cpp", "markdown", "python"] as const;
const SELECTOR = LANGUAGES.flatMap((language) => ["file", "untitled"].map((scheme) => ({ language, scheme })));

/** The first line of a module, or a fence with HLO; not the C++ class of the same name. */
const HLO = /\bHloModule[ \t]+%?[\w.-]+[ \t]*(?:[,:]|$)|^[ \t]*(?:`{3,}|~{3,})[ \t]*hlo\b/m;

/** Start the server with the first Python, C++, or Markdown document that contains HLO. */
export function startWithEmbeddedHlo(server: Server): vscode.Disposable {
  const look = (document: vscode.TextDocument): void => {
    if (
      server.state === "idle" &&
      vscode.languages.match(SELECTOR, document) > 0 &&
      vscode.workspace.getConfiguration("hlo").get<boolean>("embeddedHlo", true) &&
      HLO.test(document.getText().replaceAll("\r", ""))
    ) {
      void server.client();
    }
  };
  vscode.workspace.textDocuments.forEach(look);
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidSaveTextDocument(look),
  );
}
