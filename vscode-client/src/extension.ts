import { join } from "node:path";
import * as vscode from "vscode";
import { adoptDumps } from "./adoption";
import { FileWindows } from "./fileWindows";
import { findServer } from "./finding";
import { LANGUAGES } from "./languages";
import { LargeFileNotice } from "./largeFileNotice";
import { middlewareOf } from "./middleware";
import { showPlaces } from "./places";
import { PrivateEnvironment } from "./privateEnvironment";
import { openSample } from "./sample";
import { onPythonSelected } from "./selectedPython";
import { SCHEMES, Server } from "./server";
import { Setup } from "./setup";
import { Status } from "./status";
import { Terminal } from "./terminal";
import { Work } from "./work";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const bundled = (...names: string[]): string => context.asAbsolutePath(join(...names));
  const log = vscode.window.createOutputChannel("HLO", { log: true });
  const own = new PrivateEnvironment(
    join(context.globalStorageUri.fsPath, "server"),
    bundled("bundled", "wheels"),
    bundled("python", "unpack.py"),
  );
  const started = new Server(
    () => findServer(own, context.extensionPath),
    new Setup(own, log),
    log,
    context.extensionPath,
  );
  server = started;
  const work = new Work(() => {
    status.show();
  });
  const status = new Status(started, work);
  const windows = new FileWindows(started, log);
  const notice = new LargeFileNotice(windows);
  const terminal = new Terminal(started, windows, context.extensionPath);
  started.middleware = middlewareOf(windows, work);
  // Not before a server was looked for: it wakes the Python extension.
  let followPython: (() => void) | undefined = () => void follow(context, started);

  context.subscriptions.push(
    log,
    started,
    status,
    windows.register(),
    notice.register(),
    adoptDumps(),
    startWithDumps(started),
    started.onDidChange(() => {
      if (started.state !== "running") {
        work.forget();
      }
      if (started.state === "running" || started.state === "failed") {
        followPython?.();
        followPython = undefined;
      }
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("hlo.server.path") && started.state !== "idle") {
        void started.restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      if (started.state === "failed") {
        void started.restart();
      }
    }),
  );
  register(context, {
    "hlo.restartServer": () => started.restart(),
    "hlo.showLog": () => {
      log.show(true);
    },
    "hlo.checkFolder": (folder?: vscode.Uri) => terminal.check(folder),
    "hlo.inspectAtCursor": () => terminal.inspect(),
    "hlo.openWindow": (file?: vscode.Uri) => notice.ask(file),
    "hlo.previousWindow": () => turn(windows, -1),
    "hlo.nextWindow": () => turn(windows, 1),
    "hlo.openSample": (ending?: string, text?: string) => openSample(bundled("bundled", "dump"), ending, text),
    "hlo.showPlaces": (...places: ShownPlaces) => showPlaces(started, windows, ...places),
  });
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

type ShownPlaces = Parameters<typeof showPlaces> extends [unknown, unknown, ...infer Rest] ? Rest : never;

function register(
  context: vscode.ExtensionContext,
  commands: Record<string, (...args: never[]) => unknown>,
): void {
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
}

/** The server starts with the first dump that is open; whoever opens none has no server. */
function startWithDumps(started: Server): vscode.Disposable {
  const selector = LANGUAGES.flatMap((language) => SCHEMES.map((scheme) => ({ language, scheme })));
  const look = (document: vscode.TextDocument): void => {
    if (started.state === "idle" && vscode.languages.match(selector, document) > 0) {
      void started.client();
    }
  };
  vscode.workspace.textDocuments.forEach(look);
  return vscode.workspace.onDidOpenTextDocument(look);
}

/** A server that was found in a Python, or not at all, is looked for again when another is selected. */
async function follow(context: vscode.ExtensionContext, started: Server): Promise<void> {
  const following = await onPythonSelected(() => {
    const follows = started.state === "running" && started.launch?.origin !== "setting";
    if (follows || started.state === "failed") {
      void started.restart();
    }
  });
  if (following !== undefined) {
    context.subscriptions.push(following);
  }
}

async function turn(windows: FileWindows, way: 1 | -1): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (uri !== undefined) {
    await windows.turn(uri, way);
  }
}
