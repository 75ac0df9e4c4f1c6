import * as vscode from "vscode";
import { LANGUAGES } from "./languages";
import type { Server } from "./server";
import { SCHEME } from "./windows";
import type { Work } from "./work";

/** The language status item of dumps: the state of the server, its work, and the number of problems. */
export class Status implements vscode.Disposable {
  private readonly item = vscode.languages.createLanguageStatusItem("hlo.server", [
    ...LANGUAGES.map((language) => ({ language })),
    { scheme: SCHEME },
  ]);
  private readonly subscriptions: vscode.Disposable;

  constructor(
    private readonly server: Server,
    private readonly work: Work,
  ) {
    const show = (): void => {
      this.show();
    };
    this.item.name = "HLO";
    this.subscriptions = vscode.Disposable.from(
      this.item,
      server.onDidChange(show),
      vscode.languages.onDidChangeDiagnostics(show),
      vscode.window.onDidChangeActiveTextEditor(show),
    );
    show();
  }

  show(): void {
    const { server, item } = this;
    const isFailed = server.state === "failed";
    const [work] = this.work.current;
    item.busy = server.state === "starting" || work !== undefined;
    item.severity = isFailed ? vscode.LanguageStatusSeverity.Error : vscode.LanguageStatusSeverity.Information;
    item.text = { idle: "hlo-lsp", starting: "Starting hlo-lsp", failed: "hlo-lsp is not running", running: "" }[
      server.state
    ] || `hlo-lsp ${server.version ?? ""}`.trimEnd();
    item.detail = server.state === "running" ? (work ?? problemsHere()) : "";
    item.command = isFailed
      ? { title: "Restart", command: "hlo.restartServer" }
      : { title: "Show Log", command: "hlo.showLog" };
  }

  dispose(): void {
    this.subscriptions.dispose();
  }
}

function problemsHere(): string {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const count = uri === undefined ? 0 : vscode.languages.getDiagnostics(uri).length;
  return count === 0 ? "No problems in this file" : count === 1 ? "1 problem in this file" : `${count} problems in this file`;
}
