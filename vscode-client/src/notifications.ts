import * as vscode from "vscode";

/** Show why a command has no result. */
export function showFailure(error: unknown): void {
  void vscode.window.showInformationMessage(withoutLinks(error instanceof Error ? error.message : String(error)));
}

/**
 * Return a message without links: VS Code makes them of Markdown, and they can run any command.
 *
 * The names of files in a message can be anything.
 */
export function withoutLinks(message: string): string {
  return message.replaceAll("](", "] (");
}
