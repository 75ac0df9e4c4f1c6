import { join } from "node:path";
import * as vscode from "vscode";
import { CompileComparison } from "./comparison";
import { type Changes, Compiler } from "./compiler";
import { ConvertedTexts } from "./convertedText";
import { CompileSummary, MEMORY_SUMMARY, TIME_SUMMARY } from "./compileSummary";
import { compileOf, DumpsView, urlOf } from "./dumpsView";
import { startWithEmbeddedHlo } from "./embeddedHlo";
import { FileWindows } from "./fileWindows";
import { detectDumps } from "./languageDetection";
import { registerTools, toolRunner } from "./languageModelTools";
import { LANGUAGES } from "./languages";
import { LargeFileNotice } from "./largeFileNotice";
import { MemoryMapPanel } from "./memoryMapPanel";
import { middlewareOf } from "./middleware";
import { goToPass } from "./passes";
import { compareWithOtherHost, openOnOtherHost } from "./otherHosts";
import { Pages } from "./previewPage";
import { onDidSelectInterpreter } from "./pythonExtension";
import { Profiles } from "./profiles";
import { PythonNotes } from "./pythonNotes";
import { openRemoteDumps, RemoteFolders } from "./remoteDumps";
import { openSample } from "./sample";
import { SCHEMES, Server } from "./server";
import { showPlaces } from "./showPlaces";
import { SourceMapOffer } from "./sourceMapOffer";
import { Status } from "./status";
import { Terminal } from "./terminal";
import { showHottest } from "./times";
import { Work } from "./work";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const bundled = (...names: string[]): string => context.asAbsolutePath(join(...names));
  const sample = bundled("bundled", "dump");
  const log = vscode.window.createOutputChannel("HLO", { log: true });
  const started = new Server(context.extensionPath, log);
  server = started;
  const work = new Work(() => {
    status.show();
  });
  const status = new Status(started, work);
  const windows = new FileWindows(started, log);
  const notice = new LargeFileNotice(windows);
  const pages = new Pages(context.globalStorageUri);
  const summary = new CompileSummary(started, windows, pages);
  const profiles = new Profiles(started, pages);
  const terminal = new Terminal(started, windows, context.extensionPath);
  const remote = new RemoteFolders(context.workspaceState);
  const dumps = new DumpsView(started, remote, windows, log);
  const comparison: CompileComparison = new CompileComparison(started, windows, dumps, pages, (sides) => map.show(sides));
  const map = new MemoryMapPanel(started, windows, comparison, context.extensionUri);
  const compiler = new Compiler(started, windows, comparison);
  const tools = toolRunner(started, context.extensionPath, () => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath);
  started.middleware = middlewareOf(windows, work, sample);
  // Only after the first start, because this activates the Python extension.
  let followPython: (() => void) | undefined = () => void restartOnSelection(context, started);

  context.subscriptions.push(
    log,
    started,
    status,
    windows.register(),
    pages.register(),
    map,
    notice.register(),
    dumps.register(),
    comparison.register(),
    new ConvertedTexts(started).register(),
    new PythonNotes(started, windows).register(),
    new SourceMapOffer(started, sample).register(),
    detectDumps(),
    ...registerTools(vscode, toolNames(context), tools),
    startWithDumps(started),
    startWithEmbeddedHlo(started),
    started.onDidChange(() => {
      if (started.state !== "running") {
        work.clear();
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
    "hlo.memoryMap": (node?: unknown) => map.show(compileOf(node)),
    "hlo.memorySummary": (place?: unknown, line?: number) => {
      const compile = compileOf(place);
      return summary.show(MEMORY_SUMMARY, compile?.uri ?? place, compile?.line ?? line);
    },
    "hlo.timeSummary": (place?: unknown, line?: number) => {
      const compile = compileOf(place);
      return summary.show(TIME_SUMMARY, compile?.uri ?? place, compile?.line ?? line);
    },
    "hlo.showHottest": () => showHottest(started, windows),
    "hlo.loadProfile": async (file?: vscode.Uri) => {
      await profiles.load(file);
      map.loadSoon();
    },
    "hlo.compareProfiles": (file?: vscode.Uri, selected?: vscode.Uri[]) => {
      const other = selected?.find((each) => each.toString() !== file?.toString());
      return profiles.compare(file, other);
    },
    "hlo.timeline": (node?: unknown) => {
      const compile = compileOf(node);
      return terminal.timeline(compile === undefined ? undefined : vscode.Uri.parse(compile.uri));
    },
    "hlo.compareWith": (node?: unknown, selected?: unknown) => {
      const others = Array.isArray(selected) ? selected.filter((each) => each !== node) : [];
      return comparison.compare(compileOf(node), compileOf(others[0]));
    },
    "hlo.compile": (document?: unknown, changes?: unknown) =>
      compiler.compile(uriOf(document), typeof document === "string" ? (changes as Changes | undefined) : undefined),
    "hlo.compileWith": (document?: unknown) => compiler.compileWith(uriOf(document)),
    "hlo.showCompiled": (before: string | null, after: string, name?: string) => compiler.show(before, after, name),
    "hlo.openRemoteDumps": (url?: unknown) => openRemoteDumps(started, remote, dumps, url),
    "hlo.closeRemoteDumps": (node?: unknown) => {
      remote.close(urlOf(node) ?? "");
    },
    "hlo.openOnOtherHost": () => openOnOtherHost(started, dumps),
    "hlo.compareWithOtherHost": (node?: unknown) => compareWithOtherHost(started, comparison, compileOf(node)),
    "hlo.refreshDumps": () => {
      remote.refresh();
      dumps.refresh();
    },
    "hlo.previousPass": () => goToPass(started, windows, "previous"),
    "hlo.nextPass": () => goToPass(started, windows, "next"),
    "hlo.openWindow": (file?: vscode.Uri) => notice.ask(file),
    "hlo.previousWindow": () => openAdjacent(windows, -1),
    "hlo.nextWindow": () => openAdjacent(windows, 1),
    "hlo.openSample": (ending?: string, text?: string) => openSample(sample, ending, text),
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

/** Return the names of the language-model tools in package.json. */
function toolNames(context: vscode.ExtensionContext): string[] {
  const { contributes } = context.extension.packageJSON as { contributes: { languageModelTools: { name: string }[] } };
  return contributes.languageModelTools.map(({ name }) => name);
}

/** Start the server with the first dump that is open. */
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

/** Restart the server when the user selects another interpreter, unless a setting names the server. */
async function restartOnSelection(context: vscode.ExtensionContext, started: Server): Promise<void> {
  const listener = await onDidSelectInterpreter(() => {
    const path = vscode.workspace.getConfiguration("hlo").get("server.path", "").trim();
    if (path === "" && started.state !== "idle") {
      void started.restart();
    }
  });
  if (listener !== undefined) {
    context.subscriptions.push(listener);
  }
}

async function openAdjacent(windows: FileWindows, direction: 1 | -1): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (uri !== undefined) {
    await windows.openAdjacent(uri, direction);
  }
}

/** Return the document that a lens (as text) or a menu names. */
function uriOf(document: unknown): vscode.Uri | undefined {
  return typeof document === "string" ? vscode.Uri.parse(document) : document instanceof vscode.Uri ? document : undefined;
}
