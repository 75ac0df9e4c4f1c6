import { posix } from "node:path";
import * as vscode from "vscode";
import { RequestType, type Location } from "vscode-languageclient/node";
import { distinguishing, MAX_INDENTED_LENGTH, shortened } from "./dumpLabels";
import type { FileWindows } from "./fileWindows";
import { showFailure } from "./notifications";
import type { RemoteFolder, RemoteFolders } from "./remoteDumps";
import type { Server } from "./server";
import { withoutSecrets } from "./urls";

export const DUMPS_VIEW = "hlo.dumps";
const OPEN = "hlo.openPlace";

interface DumpFile {
  readonly label: string;
  readonly isPass: boolean;
  readonly uri: string;
}

interface Buffer {
  readonly name: string;
  /** The argument, or the name of the instruction. */
  readonly label?: string;
  readonly text: string;
  readonly location: Location;
}

/** A compile, as `hlo-lsp modules --format json` lists it, with its files and largest buffers. */
interface Compile {
  readonly uri: string;
  readonly line: number;
  readonly backend: string;
  readonly title: string;
  /** The memory space of the peak. */
  readonly space?: string | null;
  /** The bytes of `text`, which is the peak with its memory space. */
  readonly size?: string;
  readonly text: string;
  readonly instructions: number;
  readonly path: string;
  readonly host: string | null;
  /** Compiles of a module that differ only in their host have the same row. */
  readonly row?: number;
  readonly difference: string | null;
  readonly files: readonly DumpFile[];
  readonly buffers: readonly Buffer[];
}

interface Module {
  readonly name: string;
  /** Its peak is small beside the largest one. */
  readonly isSmall?: boolean;
  readonly compiles: readonly Compile[];
}

const FetchRequest = new RequestType<{ uri: string }, unknown, void>("hlo/fetch");
const ModulesRequest = new RequestType<{ folders?: readonly string[] }, { modules: readonly Module[] }, void>("hlo/modules");

/** A compile that commands can refer to: one of its files, and a line in it. */
export interface CompileChoice {
  readonly name: string;
  readonly uri: string;
  readonly line: number;
  readonly detail: string;
  /** The platform, which is unknown for a file outside the list. */
  readonly backend?: string;
  /** The URIs of all its files in the list. */
  readonly files?: readonly string[];
}

/** A row of the tree. */
export interface DumpNode {
  readonly item: vscode.TreeItem;
  readonly compile?: CompileChoice;
  readonly url?: string;
  children(): DumpNode[];
}

/** The view *HLO Dumps*: the compiles in the workspace with their files and largest buffers. */
export class DumpsView implements vscode.TreeDataProvider<DumpNode> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly server: Server,
    private readonly remote: RemoteFolders,
    private readonly windows: FileWindows,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      this.changed,
      vscode.window.createTreeView(DUMPS_VIEW, { treeDataProvider: this, showCollapseAll: true, canSelectMany: true }),
      vscode.commands.registerCommand(OPEN, (uri: vscode.Uri, range?: vscode.Range) => this.open(uri, range)),
      this.server.onDidChangeModules(() => {
        this.refresh();
      }),
      this.remote.onDidChange(() => {
        this.refresh();
      }),
      this.server.onDidChange(() => {
        if (this.server.state === "running" || this.server.state === "failed") {
          this.refresh();
        }
      }),
    );
  }

  refresh(): void {
    this.changed.fire(undefined);
  }

  getTreeItem(node: DumpNode): vscode.TreeItem {
    return node.item;
  }

  async getChildren(node?: DumpNode): Promise<DumpNode[]> {
    if (node !== undefined) {
      return node.children();
    }
    const modules = await this.modules();
    if (this.server.state === "failed") {
      return []; // The empty view says that the server does not run, also beside remote folders.
    }
    // Until then, the empty view does not say that there are no dumps.
    void vscode.commands.executeCommand("setContext", "hlo.hasListedDumps", true);
    return [...moduleNodes(modules), ...this.remote.all().map(remoteNode)];
  }

  /** Return all compiles in the workspace. */
  async compiles(): Promise<CompileChoice[]> {
    return (await this.modules()).flatMap(({ name, compiles }) =>
      compiles.map((compile) => choiceOf(name, compile)),
    );
  }

  private async modules(): Promise<readonly Module[]> {
    if (this.server.state === "failed") {
      return []; // a request would start the server
    }
    const folders = vscode.workspace.workspaceFolders?.map(({ uri }) => uri) ?? [];
    const hasFolders = folders.length + this.remote.all().length > 0;
    const client = hasFolders ? await this.server.client() : undefined;
    try {
      if (client !== undefined) {
        this.remote.listAgain(client);
      }
      const remote = this.remote.folders();
      const uris = client && folders.map((uri) => client.code2ProtocolConverter.asUri(uri));
      const parameters = uris && remote.length > 0 ? { folders: [...uris, ...remote] } : {};
      return (await client?.sendRequest(ModulesRequest, parameters))?.modules ?? [];
    } catch (error) {
      this.log.warn(`no list of compiles: ${String(error)}`);
      return [];
    }
  }

  async open(uri: vscode.Uri, range = new vscode.Range(0, 0, 0, 0)): Promise<void> {
    if (this.remote.folders().some((folder) => uri.toString().startsWith(`${vscode.Uri.parse(folder).toString()}/`))) {
      try {
        const client = await this.server.client();
        await client?.sendRequest(FetchRequest, { uri: client.code2ProtocolConverter.asUri(uri) });
      } catch (error) {
        showFailure(error);
        return;
      }
    }
    const place = await this.windows.locate(uri, range);
    // Not as a text document, because protos have another editor.
    await vscode.commands.executeCommand("vscode.open", place.uri, { selection: place.range, preview: true });
  }
}

/** Return the URL of a row of the tree. */
export function urlOf(argument: unknown): string | undefined {
  return typeof argument === "object" && argument !== null && "url" in argument ? (argument as DumpNode).url : undefined;
}

/** Return the compile of a row of the tree, which is the first argument of a command in its menu. */
export function compileOf(argument: unknown): CompileChoice | undefined {
  return typeof argument === "object" && argument !== null && "compile" in argument
    ? (argument as DumpNode).compile
    : undefined;
}

/** Return the nodes of modules; several small ones share a node. */
function moduleNodes(modules: readonly Module[]): DumpNode[] {
  const small = modules.filter(({ isSmall }) => isSmall === true);
  if (small.length < 2) {
    return modules.map(moduleNode);
  }
  const [largest] = small[0]?.compiles ?? [];
  const rest = (): DumpNode[] => small.map(moduleNode);
  return [
    ...modules.filter(({ isSmall }) => isSmall !== true).map(moduleNode),
    parent(`${small.length} small modules`, "small modules", rest, "versions", `up to ${sizeOf(largest)}`),
  ];
}

/** Return the node of a remote folder, which can be closed. */
function remoteNode({ url, folder, problem }: RemoteFolder): DumpNode {
  const item = new vscode.TreeItem(shortened(withoutSecrets(url)));
  item.description = problem !== undefined ? "cannot be listed" : folder === undefined ? "listing…" : "";
  item.tooltip = problem ?? withoutSecrets(url);
  item.iconPath = new vscode.ThemeIcon(problem === undefined ? "cloud" : "warning");
  item.contextValue = "remoteFolder";
  return { item, url, children: () => [] };
}

function moduleNode({ name, compiles }: Module): DumpNode {
  const [first] = compiles;
  const rows = new Map<number, Compile[]>();
  for (const [index, compile] of compiles.entries()) {
    const row = compile.row ?? index; // an older server does not find equal compiles
    rows.set(row, [...(rows.get(row) ?? []), compile]);
  }
  if (first !== undefined && rows.size === 1) {
    return rowNode(name, name, compiles);
  }
  const nodes = (): DumpNode[] => {
    const firsts = [...rows.values()].flatMap((row) => row.slice(0, 1));
    const labels = distinguishing(firsts.map((compile) => ({ folder: folderOf(compile), title: compile.title })));
    return [...rows.values()].map((row, index) => {
      const isSameSpace = row[0]?.space === first?.space;
      return rowNode(name, labels[index] ?? name, row, isSameSpace ? sizeOf(row[0]) : row[0]?.text);
    });
  };
  const description = `${first?.text ?? ""} · ${compiles.length} compiles`;
  return parent(name, `module ${name}`, nodes, "versions", description);
}

/** Return the node of a compile, with a node for each host if several have it; `size` is the size that it shows. */
function rowNode(name: string, label: string, row: readonly Compile[], size = row[0]?.text ?? ""): DumpNode {
  const [first, ...others] = row;
  if (first === undefined || others.length === 0) {
    return first === undefined ? parent(label, name, () => [], "symbol-module") : compileNode(name, label, first, size);
  }
  const node = compileNode(name, label, first, size);
  const hosts = new Set(row.map(({ host }) => host)).size;
  const hostText = hosts === 1 ? "1 host" : `${hosts} hosts`;
  const count = hosts === row.length ? hostText : `${row.length} compiles on ${hostText}`;
  const perHost = (): DumpNode[] =>
    row.map((compile) => {
      const { uri, line, host, title } = compile;
      return compileNode(name, `${host ?? ""}/${title}`, compile, sizeOf(compile), `host ${uri}#${line}`);
    });
  const children = (): DumpNode[] => [
    ...node.children(),
    parent("hosts", `${name} ${first.uri} hosts`, perHost, "server-environment", count),
  ];
  node.item.description = `${String(node.item.description)} · ${count}`;
  return { ...node, children };
}

function compileNode(
  name: string,
  label: string,
  compile: Compile,
  size: string,
  id = `${compile.uri}#${compile.line}`,
): DumpNode {
  const { uri, line, files, buffers, difference } = compile;
  const passes = files.filter(({ isPass }) => isPass);
  const children = (): DumpNode[] => [
    ...files.filter(({ isPass }) => !isPass).map((file) => fileNode(file, id)),
    ...(files.length === 0 ? [fileNode({ label: "output", isPass: false, uri }, id, line)] : []),
    ...(passes.length === 0
      ? []
      : [parent("passes", `${id} passes`, () => passes.map((file) => fileNode(file, id)), "list-ordered", String(passes.length))]),
    ...(buffers.length === 0
      ? []
      : [parent("largest buffers", `${id} buffers`, () => buffers.map((one) => bufferNode(one)), "symbol-variable", "at the peak")]),
  ];
  const description = difference === null ? size : `${size} · ${difference}`;
  const node = parent(label, id, children, "symbol-module", description);
  const choice = choiceOf(name, compile);
  node.item.contextValue = "compile";
  node.item.tooltip = `${name}\n${choice.detail}\n${compile.instructions.toLocaleString("en")} instructions\n${compile.path}`;
  return { ...node, compile: choice };
}

/** Return the size of a compile without the name of the memory space, for a row below one that has it. */
function sizeOf(compile: Compile | undefined): string {
  return compile?.size ?? compile?.text ?? "";
}

function choiceOf(name: string, { uri, line, backend, text, difference, files }: Compile): CompileChoice {
  const detail = difference === null ? text : `${text} · ${difference}`;
  return { name, uri, line, detail, backend, files: files.map((file) => file.uri) };
}

function fileNode(file: DumpFile, compile: string, line = 0): DumpNode {
  const uri = vscode.Uri.parse(file.uri);
  const item = new vscode.TreeItem(file.label);
  item.id = `${compile} ${file.uri}`;
  item.resourceUri = uri;
  item.iconPath = vscode.ThemeIcon.File;
  item.tooltip = uri.fsPath;
  item.command = { title: "Open", command: OPEN, arguments: [uri, new vscode.Range(line, 0, line, 0)] };
  return { item, children: () => [] };
}

function bufferNode({ name, label = name, text, location }: Buffer): DumpNode {
  const { start, end } = location.range;
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  const item = new vscode.TreeItem(shortened(label, MAX_INDENTED_LENGTH));
  item.description = text;
  item.tooltip = `${label === name ? name : `${label}\n${name}`}\n${text}`;
  item.iconPath = new vscode.ThemeIcon("symbol-variable");
  item.command = { title: "Open", command: OPEN, arguments: [vscode.Uri.parse(location.uri), range] };
  return { item, children: () => [] };
}

function parent(label: string, id: string, children: () => DumpNode[], icon: string, description = ""): DumpNode {
  const item = new vscode.TreeItem(shortened(label), vscode.TreeItemCollapsibleState.Collapsed);
  item.id = id;
  item.tooltip = description === "" ? label : `${label}\n${description}`;
  item.description = description;
  item.iconPath = new vscode.ThemeIcon(icon);
  return { item, children };
}

/** Return the folder of a compile, in the workspace or in a remote folder. */
function folderOf({ uri, path }: Compile): string {
  return posix.dirname(path.includes("://") ? path : vscode.workspace.asRelativePath(vscode.Uri.parse(uri)));
}
