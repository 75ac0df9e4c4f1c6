import * as vscode from "vscode";

/** Show a text as a command line would have printed it, in a terminal that ends there. */
export function printed(name: string, text: string): void {
  const written = new vscode.EventEmitter<string>();
  const terminal = vscode.window.createTerminal({
    name,
    pty: {
      onDidWrite: written.event,
      open: () => {
        written.fire(text.replaceAll(/\r?\n/gu, "\r\n"));
      },
      close: () => {
        written.dispose();
      },
    },
  });
  terminal.show(true);
}
