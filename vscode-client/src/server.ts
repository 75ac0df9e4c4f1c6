import { setTimeout } from "node:timers/promises";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  ErrorCodes,
  LanguageClient,
  ResponseError,
  RevealOutputChannelOn,
  State,
  TransportKind,
  type MessageTransports,
  type Middleware,
} from "vscode-languageclient/node";
import { Backoff } from "./backoff";
import type { Discovery, Launch } from "./discovery";
import { LANGUAGES } from "./languages";
import type { Setup } from "./setup";

/** Where files are that the server can look at. */
export const SCHEMES = ["file", "untitled"] as const;

/** Commands of this client that lenses and actions of the server may name. */
export const CLIENT_COMMANDS = ["hlo.showPlaces"] as const;

export type ServerState = "idle" | "starting" | "running" | "failed";

/** The server's life: it is looked for when the first dump is opened, and started again when it dies. */
export class Server implements vscode.Disposable {
  /** What answers the middleware gives in place of the server's. Set before the first start. */
  middleware: Middleware = {};

  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  private readonly backoff = new Backoff(Date.now);
  private begun: Promise<LanguageClient | undefined> | undefined;
  private found: Launch | undefined;
  private current: LanguageClient | undefined;
  private told: ServerState = "idle";

  /** @param folder where the server runs; Python imports from there first, so it is no workspace */
  constructor(
    private readonly find: () => Promise<Discovery>,
    private readonly setup: Setup,
    private readonly log: vscode.LogOutputChannel,
    private readonly folder: string,
  ) {}

  get state(): ServerState {
    return this.told;
  }

  /** The version that the server told; undefined unless it runs. */
  get version(): string | undefined {
    return this.current?.initializeResult?.serverInfo?.version;
  }

  /** How it was found. */
  get launch(): Launch | undefined {
    return this.found;
  }

  /** The client of the running server, which is started first; undefined if there is none. */
  client(): Promise<LanguageClient | undefined> {
    this.begun ??= this.begin();
    return this.begun;
  }

  /** How `hlo-lsp` is run here, for its other commands; undefined if it is not there. */
  async program(): Promise<Launch | undefined> {
    await this.client();
    return this.found;
  }

  /** Look for it again, and start it again. */
  async restart(): Promise<void> {
    this.backoff.forgive();
    const before = this.begun;
    this.begun = undefined;
    await before?.catch(() => undefined);
    await this.stop();
    await this.client();
  }

  async stop(): Promise<void> {
    const client = this.current;
    this.current = undefined;
    // A server that hangs or never started must not keep the next one from starting.
    await client?.dispose(2_000).catch((error: unknown) => {
      this.log.warn(String(error));
    });
    this.become("idle");
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async begin(): Promise<LanguageClient | undefined> {
    this.become("starting");
    try {
      const discovery = await this.find();
      this.found = discovery.kind === "found" ? discovery.launch : await this.setup.help(discovery);
      if (this.found === undefined) {
        this.become("failed");
        return undefined;
      }
      return await this.start(this.found);
    } catch (error) {
      this.become("failed");
      void this.setup.complain(`The HLO language server did not start: ${String(error)}`);
      return undefined;
    }
  }

  private async start(launch: Launch): Promise<LanguageClient> {
    const line = [launch.command, ...launch.args].join(" ");
    this.log.info(`starting ${line} (${launch.origin})`);
    let wasRunning = false;
    let isDown = false; // it died, and is not yet started again
    const client: QuietClient = new QuietClient(
      "hlo",
      "HLO",
      {
        command: launch.command,
        args: [...launch.args],
        options: { cwd: this.folder },
        transport: TransportKind.stdio,
      },
      {
        documentSelector: LANGUAGES.flatMap((language) => SCHEMES.map((scheme) => ({ scheme, language }))),
        outputChannel: this.log,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        initializationOptions: { commands: CLIENT_COMMANDS },
        markdown: { isTrusted: false },
        middleware: {
          ...this.middleware,
          // VS Code goes on asking; each question that nobody can answer would be an error in the log.
          sendRequest: (type, params, token, next) =>
            isDown
              ? Promise.reject(new ResponseError(ErrorCodes.ConnectionInactive, "the server is down"))
              : next(type, params, token),
        },
        initializationFailedHandler: () => false,
        errorHandler: {
          error: () => ({ action: ErrorAction.Continue, handled: true }),
          // One that ends before it answers would only do so again; `start` tells why.
          closed: async () => {
            isDown = true;
            const goesOn = wasRunning && (await this.goesOn(client));
            isDown = false;
            return { action: goesOn ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true };
          },
        },
      },
    );
    this.current = client;
    client.onDidChangeState(({ newState }) => {
      // While it is down it has not failed: `goesOn` tells.
      if (this.current === client && !isDown) {
        this.become(newState === State.Running ? "running" : newState === State.Starting ? "starting" : "failed");
      }
    });
    await client.start();
    wasRunning = true;
    client.onLost = (error) => {
      void this.setup.complain(`The HLO language server could not be started again: ${String(error)}`);
    };
    return client;
  }

  /** Whether a server that died is to be started again, said when it is time to. */
  private async goesOn(client: LanguageClient): Promise<boolean> {
    const wait = this.backoff.died();
    if (wait === undefined) {
      this.become("failed");
      void this.setup.complain("The HLO language server ended again and again, and is not started any more.");
      return false;
    }
    this.log.warn(`the server ended; it is started again in ${wait} ms`);
    this.become("starting");
    await setTimeout(wait);
    return this.current === client; // meanwhile the user may have restarted it, or closed the editor
  }

  private become(state: ServerState): void {
    this.told = state;
    this.changed.fire();
  }
}

/** What goes wrong is told by `Setup`, once, with what helps; the library would tell it as well. */
class QuietClient extends LanguageClient {
  /** Called when the program cannot be run any more that once was. */
  onLost: ((error: unknown) => void) | undefined;

  override error(message: string, data?: unknown): void {
    if (message === "Server process exited with code 0.") {
      this.info(message, data, false); // it was asked to
    } else {
      super.error(message, data, false);
    }
  }

  protected override async createMessageTransports(encoding: string): Promise<MessageTransports> {
    try {
      return await super.createMessageTransports(encoding);
    } catch (error) {
      this.onLost?.(error);
      throw error;
    }
  }
}
