import * as vscode from "vscode";

/** Show a text in a terminal without a process. */
export function showInTerminal(name: string, text: string): void {
  const output = new vscode.EventEmitter<string>();
  const terminal = vscode.window.createTerminal({
    name,
    pty: {
      onDidWrite: output.event,
      open: () => {
        output.fire(text.replaceAll(/\r?\n/gu, "\r\n"));
      },
      close: () => {
        output.dispose();
      },
    },
  });
  terminal.show(true);
}
