import { posix } from "node:path";
import * as vscode from "vscode";
import { RequestType } from "vscode-languageclient/node";
import type { CompileComparison } from "./comparison";
import type { FileWindows } from "./fileWindows";
import { showFailure } from "./notifications";
import { CONVERTED_SCHEME, type Server } from "./server";

/** Changes to a program, as the options of `hlo-lsp compile`. */
export interface Changes {
  readonly chip?: string;
  readonly flags?: Readonly<Record<string, string>>;
  readonly donate?: readonly string[];
  readonly noDonate?: boolean;
}

/** The URIs of what to compare; `before` is null for the first compile of a lone text. */
interface Compiled {
  readonly before: string | null;
  readonly after: string;
  readonly name: string;
}

interface Choices {
  readonly options: readonly { readonly name: string; readonly value: string }[];
  readonly arguments: readonly { readonly number: number; readonly name: string; readonly isUsable: boolean }[];
}

interface Change extends vscode.QuickPickItem {
  /** Ask for the rest of the change; undefined if the user gives up. */
  readonly ask: () => Promise<Changes | undefined>;
}

const CompileRequest = new RequestType<{ uri: string; changes: Changes }, Compiled | null, void>("hlo/compile");
const ChoicesRequest = new RequestType<{ uri: string }, Choices, void>("hlo/compileChoices");
const CHIPS = ["v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x"] as const;

/** Compiles the program of a text again, and shows what changed. */
export class Compiler {
  constructor(
    private readonly server: Server,
    private readonly windows: FileWindows,
    private readonly comparison: CompileComparison,
  ) {}

  /** Compile a document, by default that of the active editor, as it is in the editor. */
  async compile(document?: vscode.Uri, changes: Changes = {}): Promise<void> {
    const found = await this.request(document, async (client, uri) =>
      vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title: `Compiling ${posix.basename(vscode.Uri.parse(uri).path)}`, cancellable: true },
        async (_, cancellation) =>
          client.sendRequest(CompileRequest, { uri, changes }, cancellation).catch((error: unknown) => {
            if (cancellation.isCancellationRequested) {
              return null;
            }
            throw error;
          }),
      ),
    );
    if (found !== undefined && found !== null) {
      await this.show(found.before, found.after, found.name);
    }
  }

  /** Compile a document with a change that the user chooses. */
  async compileWith(document?: vscode.Uri): Promise<void> {
    const choices = await this.request(document, async (client, uri) => client.sendRequest(ChoicesRequest, { uri }));
    if (choices === undefined) {
      return;
    }
    const title = "Compile with";
    const change = await vscode.window.showQuickPick(changesOf(choices), { title });
    const changes = await change?.ask();
    if (changes !== undefined) {
      await this.compile(document, changes);
    }
  }

  /** Compare a new dump with the one before, or show the summary of a lone one. */
  async show(before: string | null, after: string, name = "program"): Promise<void> {
    if (before === null) {
      await vscode.commands.executeCommand("hlo.memorySummary", after, 0);
      return;
    }
    const [first, second] = [before, after].map((uri) => ({ name, uri, line: 0, detail: "" }));
    await this.comparison.compare(first, second, `${name} → compiled`);
  }

  private async request<T>(
    document: vscode.Uri | undefined,
    send: (client: NonNullable<Awaited<ReturnType<Server["clientForCommand"]>>>, uri: string) => Promise<T>,
  ): Promise<T | undefined> {
    const editor = vscode.window.activeTextEditor;
    const opened = document ?? editor?.document.uri;
    if (opened === undefined) {
      return undefined;
    }
    // The dump of a proto is beside the file, not beside its text.
    const shown = opened.scheme === CONVERTED_SCHEME ? vscode.Uri.parse(opened.query, true) : opened;
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showInformationMessage("HLO compiles programs only in trusted folders: the compiler runs what the dump says.");
      return undefined;
    }
    try {
      const { uri } = await this.windows.place(shown, new vscode.Position(0, 0));
      const client = await this.server.clientForCommand();
      return client === undefined ? undefined : await send(client, client.code2ProtocolConverter.asUri(uri));
    } catch (error) {
      showFailure(error);
      return undefined;
    }
  }
}

function changesOf(choices: Choices): Change[] {
  const usable = choices.arguments.filter(({ isUsable }) => isUsable);
  const names = usable.map(({ name }) => name).join(", ");
  return [
    { label: "Another chip...", ask: async () => fromPick("Chip", CHIPS.map((label) => ({ label })), ({ label }) => ({ chip: label })) },
    { label: "Another option of the compiler...", ask: async () => askOption(choices.options) },
    ...(usable.length === 0
      ? []
      : [{ label: "Donate all arguments that an output can use", detail: names, ask: async () => Promise.resolve({ donate: [] }) }]),
    { label: "Donate an argument...", ask: async () => askArgument(choices) },
    { label: "Without donations", ask: async () => Promise.resolve({ noDonate: true }) },
  ];
}

async function askArgument({ arguments: all }: Choices): Promise<Changes | undefined> {
  const items = all.map(({ number, name, isUsable }) => ({
    label: name,
    description: isUsable ? "an output can use it" : "",
    number,
  }));
  return fromPick("Argument to donate", items, ({ number }) => ({ donate: [String(number)] }));
}

async function askOption(options: Choices["options"]): Promise<Changes | undefined> {
  const items = options.map(({ name: label, value: description }) => ({ label, description }));
  const title = "Option of XLA or libtpu";
  const name =
    items.length === 0
      ? await vscode.window.showInputBox({ title, placeHolder: "xla_tpu_scoped_vmem_limit_kib" })
      : (await vscode.window.showQuickPick(items, { title, placeHolder: "the options that the dump lists, with their values" }))?.label;
  const value = name && (await vscode.window.showInputBox({ title: name, value: items.find(({ label }) => label === name)?.description ?? "", prompt: "its new value" }));
  return name && value !== undefined ? { flags: { [name]: value } } : undefined;
}

async function fromPick<T extends vscode.QuickPickItem>(
  title: string,
  items: readonly T[],
  changes: (item: T) => Changes,
): Promise<Changes | undefined> {
  const chosen = await vscode.window.showQuickPick(items, { title });
  return chosen && changes(chosen);
}
