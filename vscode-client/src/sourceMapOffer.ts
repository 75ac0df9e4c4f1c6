import { relative } from "node:path";
import * as vscode from "vscode";
import { RequestType } from "vscode-languageclient/node";
import { LANGUAGES } from "./languages";
import { withoutLinks } from "./notifications";
import { isBelow } from "./programs";
import type { Server } from "./server";
import { defines, fileName, mappingOf, unmapped, type FoundMapping, type Mapping } from "./sourceMapping";

/** Files that the dump names, and the functions of each. */
interface Missing {
  readonly files: readonly string[];
  readonly functions?: readonly (readonly string[])[];
}

const MissingRequest = new RequestType<{ uri: string }, Missing, void>("hlo/missingSources");
const MAP = "Map Folder";
const MAX_FOUND = 50;
const SEARCH_MILLISECONDS = 10_000;
const EXCLUDED = "**/{node_modules,site-packages}/**";

/** Offers to map the sources of a dump, if files in the workspace have the same names. */
export class SourceMapOffer {
  private readonly looked = new Set<string>(); // documents
  private readonly offered = new Set<string>(); // mappings

  /**
   * @param sample the folder of the sample dump, whose sources come with the extension
   */
  constructor(
    private readonly server: Server,
    private readonly sample: string,
  ) {}

  register(): vscode.Disposable {
    const look = (): void => {
      const document = vscode.window.activeTextEditor?.document;
      if (this.server.state === "running" && document !== undefined) {
        void this.look(document);
      }
    };
    look();
    return vscode.Disposable.from(vscode.window.onDidChangeActiveTextEditor(look), this.server.onDidChange(look));
  }

  private async look({ uri, languageId }: vscode.TextDocument): Promise<void> {
    const isDump = LANGUAGES.some((language) => language === languageId);
    if (!isDump || uri.scheme !== "file" || isBelow(uri.fsPath, this.sample) || this.looked.has(uri.toString())) {
      return;
    }
    this.looked.add(uri.toString());
    const client = await this.server.client();
    const answer = await client
      ?.sendRequest(MissingRequest, { uri: client.code2ProtocolConverter.asUri(uri) })
      .catch(() => undefined); // an older server
    // The server may answer before it has the settings.
    const known = Object.keys(vscode.workspace.getConfiguration("hlo").get("sourceMap", {}));
    const mapping = await this.find(unmapped(answer?.files ?? [], known));
    const key = JSON.stringify([mapping?.prefix, mapping?.folder]);
    if (mapping !== undefined && !this.offered.has(key) && (await isConfirmed(mapping, answer))) {
      this.offered.add(key);
      await offer(mapping);
    }
  }

  private async find(missing: readonly string[]): Promise<FoundMapping | undefined> {
    // Other characters are not plain in a glob.
    const names = new Set(missing.map(fileName).filter((name) => /^[\w.-]+$/.test(name)));
    if (names.size === 0) {
      return undefined;
    }
    const source = new vscode.CancellationTokenSource();
    const timer = setTimeout(() => {
      source.cancel();
    }, SEARCH_MILLISECONDS);
    try {
      const glob = `**/{${[...names].join(",")}}`;
      const found = await vscode.workspace.findFiles(glob, EXCLUDED, MAX_FOUND, source.token);
      const depth = (uri: vscode.Uri): number => vscode.workspace.asRelativePath(uri, false).split("/").length;
      return mappingOf(missing, found.map((uri) => ({ path: uri.fsPath, depth: depth(uri) })));
    } finally {
      clearTimeout(timer);
      source.dispose();
    }
  }
}

/** Return whether a local file is the one of the dump and not only of the same name. */
async function isConfirmed({ onlyName }: FoundMapping, missing?: Missing): Promise<boolean> {
  if (onlyName === undefined) {
    return true;
  }
  const functions = missing?.functions?.[missing.files.indexOf(onlyName.file)];
  try {
    const text = await vscode.workspace.fs.readFile(vscode.Uri.file(onlyName.path));
    return defines(new TextDecoder().decode(text), functions ?? []);
  } catch {
    return false; // It was deleted after the search.
  }
}

async function offer({ prefix, folder }: Mapping): Promise<void> {
  const message = `The sources of this dump seem to be in the workspace: ${prefix} in the dump is ${folder} here.`;
  if ((await vscode.window.showInformationMessage(withoutLinks(message), MAP)) !== MAP) {
    return;
  }
  const settings = vscode.workspace.getConfiguration("hlo");
  const before = settings.inspect<Record<string, string>>("sourceMap")?.workspaceValue;
  const sourceMap = { ...before, [prefix]: portable(folder) };
  await settings.update("sourceMap", sourceMap, vscode.ConfigurationTarget.Workspace);
}

/** Return a folder relative to the workspace folder, if it is in the only one. */
function portable(folder: string): string {
  const [root, ...others] = vscode.workspace.workspaceFolders ?? [];
  if (root === undefined || others.length > 0) {
    return folder;
  }
  if (isBelow(folder, root.uri.fsPath)) {
    return `\${workspaceFolder}/${relative(root.uri.fsPath, folder).replaceAll("\\", "/")}`;
  }
  return relative(root.uri.fsPath, folder) === "" ? "${workspaceFolder}" : folder;
}
