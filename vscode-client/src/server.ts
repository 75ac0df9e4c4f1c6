import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  TransportKind,
  type Middleware,
} from "vscode-languageclient/node";
import { interpreterNames, probe } from "./interpreters";
import { LANGUAGES } from "./languages";
import { findLaunch, type Launch } from "./launch";
import { showLaunchError, showNotRunning } from "./launchMessage";
import { findProgram, isStoredBelow } from "./programs";
import { selectedInterpreter } from "./pythonExtension";

/** The scheme of protos that are shown as text. */
export const CONVERTED_SCHEME = "hlo-text";

/** Schemes of documents that the server can read. */
export const SCHEMES = ["file", "untitled", CONVERTED_SCHEME] as const;

/** Commands of this client that lenses and actions of the server may name. */
const CLIENT_COMMANDS = ["hlo.showPlaces", "hlo.memorySummary", "hlo.timeSummary", "hlo.compile", "hlo.showCompiled"] as const;

export type ServerState = "idle" | "starting" | "running" | "failed";

/** The language server: it starts with the first dump that is opened. */
export class Server implements vscode.Disposable {
  /** Set before the first start. */
  middleware: Middleware = {};

  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  private readonly linesChanged = new vscode.EventEmitter<void>();
  /** Fires when other Python lines own memory at the peak of a dump. */
  readonly onDidChangeSourceLines = this.linesChanged.event;

  private readonly modulesChanged = new vscode.EventEmitter<void>();
  /** Fires when files below the folders of the list of compiles have changed. */
  readonly onDidChangeModules = this.modulesChanged.event;

  private starting: Promise<LanguageClient | undefined> | undefined;
  private launch: Launch | undefined;
  private current: Client | undefined;
  private currentState: ServerState = "idle";

  /**
   * @param folder the folder of this extension, which is also the working directory of the server:
   *   Python imports from there first, so it must not be a workspace folder
   */
  constructor(
    private readonly folder: string,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  get state(): ServerState {
    return this.currentState;
  }

  /** The version that the server reported; undefined unless it runs. */
  get version(): string | undefined {
    return this.current?.initializeResult?.serverInfo?.version;
  }

  /** Return the client of the server, which is started first; undefined if it cannot be started. */
  client(): Promise<LanguageClient | undefined> {
    this.starting ??= this.start();
    return this.starting;
  }

  /** Return the client for a command of the user, who is told if the server does not run. */
  async clientForCommand(): Promise<LanguageClient | undefined> {
    const hadFailed = this.currentState === "failed";
    const client = await this.client();
    if (hadFailed && this.currentState === "failed") {
      showNotRunning(this.log); // a failed start has just said why
    }
    return this.currentState === "failed" ? undefined : client;
  }

  /** Return the command that runs hlo-lsp; undefined if there is none. */
  async program(): Promise<Launch | undefined> {
    await this.client();
    return this.launch;
  }

  /** Find the command again and start the server again. */
  async restart(): Promise<void> {
    const before = this.starting;
    this.starting = (async () => {
      await before;
      await this.stop();
      return this.start();
    })();
    await this.starting;
  }

  async stop(): Promise<void> {
    const client = this.current;
    this.current = undefined;
    client?.expectExit();
    // A server that hangs or never started must not keep the next one from starting.
    await client?.dispose().catch((error: unknown) => {
      this.log.warn(String(error));
    });
    this.setState("idle");
  }

  dispose(): void {
    this.changed.dispose();
    this.linesChanged.dispose();
    this.modulesChanged.dispose();
  }

  private async start(): Promise<LanguageClient | undefined> {
    this.setState("starting");
    this.launch = undefined;
    try {
      this.launch = await this.find();
    } catch (error) {
      this.setState("failed");
      void showLaunchError(error instanceof Error ? error.message : String(error), this.log);
      return undefined;
    }
    this.log.info(`starting ${[this.launch.command, ...this.launch.args].join(" ")}`);
    const client = this.createClient(this.launch);
    this.current = client;
    client.onDidChangeState(({ newState }) => {
      if (this.current === client) {
        this.setState(newState === State.Running ? "running" : newState === State.Starting ? "starting" : "failed");
      }
    });
    try {
      await client.start();
      return client;
    } catch {
      return undefined; // the client has shown the error
    }
  }

  private find(): Promise<Launch> {
    const surroundings = {
      folder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
      home: homedir(),
      path: process.env["PATH"] ?? "",
    };
    return findLaunch({
      setting: vscode.workspace.getConfiguration("hlo").get<string>("server.path", "").trim(),
      script: join(this.folder, "bundled", "tool", "hlo_lsp_main.py"),
      findProgram: (setting) => findProgram(setting, surroundings),
      interpreters: () => this.interpreters(),
      probe: (command) => probe(command, this.folder),
    });
  }

  private async interpreters(): Promise<string[]> {
    const selected = await selectedInterpreter().catch((error: unknown) => {
      this.log.warn(`the Python extension reports no interpreter: ${String(error)}`);
      return undefined;
    });
    const commands = [...(selected === undefined ? [] : [selected]), ...interpreterNames(process.platform)];
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    if (vscode.workspace.isTrusted) {
      return commands;
    }
    const areInside = commands.map((command) => Promise.all(folders.map((folder) => isStoredBelow(command, folder))));
    const inside = await Promise.all(areInside);
    return commands.filter((_, index) => !inside[index]?.includes(true));
  }

  private createClient({ command, args }: Launch): Client {
    const server = { command, args: [...args], options: { cwd: this.folder }, transport: TransportKind.stdio };
    let hasStarted = false;
    const client: Client = new Client("hlo", "HLO", server, {
      documentSelector: LANGUAGES.flatMap((language) => SCHEMES.map((scheme) => ({ scheme, language }))),
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: { commands: CLIENT_COMMANDS },
      markdown: { isTrusted: false },
      middleware: this.middleware,
      initializationFailedHandler: () => false,
      errorHandler: {
        // Writing to a server that has crashed fails; the closed connection decides about a restart.
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        // A server that exits before its first reply would only do so again.
        closed: () =>
          hasStarted ? restarts.closed() : { action: CloseAction.DoNotRestart, handled: true },
      },
    });
    client.onNotification("hlo/sourceLinesChanged", () => {
      this.linesChanged.fire();
    });
    client.onNotification("hlo/modulesChanged", () => {
      this.modulesChanged.fire();
    });
    const restarts = client.createDefaultErrorHandler();
    client.onDidChangeState(({ newState }) => {
      hasStarted ||= newState === State.Running;
    });
    return client;
  }

  private setState(state: ServerState): void {
    this.currentState = state;
    void vscode.commands.executeCommand("setContext", "hlo.serverState", state);
    this.changed.fire();
  }
}

/** A client that logs no errors when the server was told to exit: requests without answers, and the exit. */
class Client extends LanguageClient {
  private exits = false;

  expectExit(): void {
    this.exits = true;
  }

  override error(message: string, data?: unknown, showNotification?: boolean | "force"): void {
    if (!this.exits) {
      super.error(message, data, showNotification);
    } else if (data === undefined) {
      this.info(message, undefined, false); // that the process has exited
    }
  }
}
