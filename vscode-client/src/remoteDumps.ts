import * as vscode from "vscode";
import { RequestType, type LanguageClient } from "vscode-languageclient/node";
import { DUMPS_VIEW, type DumpsView } from "./dumpsView";
import { showFailure, withoutLinks } from "./notifications";
import type { Server } from "./server";
import { missingPackage, withoutSecrets, type MissingPackage } from "./urls";

/** The answer for a URL: the file or folder that stands for it, and the folder with its dumps. */
interface LocalPlace {
  readonly uri: string;
  readonly folder: string;
}

const FolderRequest = new RequestType<{ url: string }, LocalPlace, void>("hlo/remoteFolder");
const STATE = "hlo.remoteUrls";

/** A URL whose dumps are listed: in a folder, which is known with the first answer, or why not again. */
export interface RemoteFolder {
  readonly url: string;
  readonly folder?: string;
  readonly problem?: string;
}

/** The URLs whose dumps the view lists. Those of a workspace are listed again when it is opened again. */
export class RemoteFolders {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChange = this.changed.event;
  private readonly known = new Map<string, RemoteFolder>();
  private readonly unlisted: Set<string>;

  constructor(private readonly state: vscode.Memento) {
    this.unlisted = new Set(state.get<string[]>(STATE, []));
    this.unlisted.forEach((url) => this.known.set(url, { url }));
  }

  all(): RemoteFolder[] {
    return [...this.known.values()];
  }

  /** Return the local folders that stand for remote ones. */
  folders(): string[] {
    return this.all().flatMap(({ folder }) => folder ?? []);
  }

  /** List all URLs again with the next list of compiles. */
  refresh(): void {
    this.known.forEach((_, url) => this.unlisted.add(url));
  }

  /** List URLs in the background that are not listed since the window was opened, or are to be listed again. */
  listAgain(client: LanguageClient): void {
    for (const url of this.unlisted) {
      this.unlisted.delete(url);
      client.sendRequest(FolderRequest, { url }).then(
        ({ folder }) => {
          this.set({ url, folder });
        },
        (error: unknown) => {
          const problem = error instanceof Error ? error.message : String(error);
          this.set({ ...this.known.get(url), url, problem });
        },
      );
    }
  }

  async add(url: string, client: LanguageClient, token: vscode.CancellationToken): Promise<LocalPlace> {
    const place = await client.sendRequest(FolderRequest, { url }, token);
    this.known.set(url, { url });
    this.set({ url, folder: place.folder });
    return place;
  }

  close(url: string): void {
    this.known.delete(url);
    this.store();
  }

  private set(folder: RemoteFolder): void {
    if (this.known.has(folder.url)) {
      this.known.set(folder.url, folder);
      this.store();
    }
  }

  private store(): void {
    const urls = [...this.known.keys()].filter((url) => withoutSecrets(url) === url);
    void this.state.update(STATE, urls.length === 0 ? undefined : urls);
    this.changed.fire(undefined);
  }
}

const INSTALL = "Install";

let lastUrl = "";

/** List the dumps in a remote folder in the view; without a URL, ask for it. */
export async function openRemoteDumps(server: Server, remote: RemoteFolders, dumps: DumpsView, given?: unknown): Promise<void> {
  const url = typeof given === "string" ? given : (await askForUrl())?.trim();
  const client = url ? await server.clientForCommand() : undefined;
  if (!url || client === undefined) {
    return;
  }
  lastUrl = url;
  try {
    const { uri, folder } = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: `Listing ${url}`, cancellable: true },
      (_, token) => remote.add(url, client, token),
    );
    await vscode.commands.executeCommand(`${DUMPS_VIEW}.focus`);
    if (uri !== folder) {
      await dumps.open(vscode.Uri.parse(uri));
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    const missing = missingPackage(message);
    if (missing === undefined) {
      showFailure(error);
    } else if ((await vscode.window.showErrorMessage(withoutLinks(message), INSTALL)) === INSTALL) {
      await install(missing, () => void openRemoteDumps(server, remote, dumps, url));
    }
  }
}

/** Install a package in a terminal, for the interpreter that runs the server. */
async function install({ python, requirement }: MissingPackage, done: () => void): Promise<void> {
  const execution = new vscode.ProcessExecution(python, ["-m", "pip", "install", requirement]);
  const definition = { type: "hlo", command: "install" };
  const task = new vscode.Task(definition, vscode.TaskScope.Workspace, `install ${requirement}`, "hlo-lsp", execution);
  const running = await vscode.tasks.executeTask(task);
  const listener = vscode.tasks.onDidEndTaskProcess(({ execution: ended, exitCode }) => {
    if (ended === running) {
      listener.dispose();
      if (exitCode === 0) {
        done();
      }
    }
  });
}

function askForUrl(): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: "Open Dumps from a URL",
    prompt: "A folder or a file, such as gs://bucket/dumps, s3://bucket/dumps, or https://host/dumps/",
    value: lastUrl,
    ignoreFocusOut: true,
  });
}
