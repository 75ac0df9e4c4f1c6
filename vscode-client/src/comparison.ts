import { posix } from "node:path";
import * as vscode from "vscode";
import { RequestType } from "vscode-languageclient/node";
import { distinguishing } from "./dumpLabels";
import type { CompileChoice, DumpsView } from "./dumpsView";
import type { FileWindows } from "./fileWindows";
import type { FileLine } from "./memoryMap/host";
import { showFailure } from "./notifications";
import type { Pages } from "./previewPage";
import type { Server } from "./server";

export const SCHEME = "hlo-compare";
const SIDES = ["before", "after"] as const;

/** The two places of a comparison: files, and lines that select a section of a stdout dump. */
export interface Sides {
  readonly before: FileLine;
  readonly after: FileLine;
}

/** A module text for comparison; `lines` are the lines of the file `uri`, from 0. */
interface ComparedText {
  readonly uri: string;
  readonly text: string;
  readonly lines: readonly number[];
}

interface Comparison {
  readonly title: string;
  readonly markdown: string;
  readonly texts: readonly [ComparedText, ComparedText] | null;
}

const CompareRequest = new RequestType<Sides, Comparison, void>("hlo/compare");

/** Compares two compiles: the answer as Markdown, and both module texts side by side. */
export class CompileComparison implements vscode.TextDocumentContentProvider, vscode.DefinitionProvider {
  /** By the query of the URIs of its documents, so that VS Code can request them again. */
  private readonly known = new Map<string, Promise<Comparison>>();

  /**
   * @param pages shows the answer
   * @param showMaps shows the memory maps of two compiles without module texts
   */
  constructor(
    private readonly server: Server,
    private readonly windows: FileWindows,
    private readonly dumps: DumpsView,
    private readonly pages: Pages,
    private readonly showMaps: (sides: Sides) => Promise<void>,
  ) {}

  register(): vscode.Disposable {
    const isSame = (query: string) => (document: vscode.TextDocument) => document.uri.query === query;
    return vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerDefinitionProvider({ scheme: SCHEME }, this),
      vscode.workspace.onDidCloseTextDocument(({ uri: { scheme, query } }) => {
        if (scheme === SCHEME && !vscode.workspace.textDocuments.some(isSame(query))) {
          this.known.delete(query);
        }
      }),
    );
  }

  /** Compare two compiles; the user chooses those that are not given. By default, the title names both. */
  async compare(first?: CompileChoice, second?: CompileChoice, given?: string): Promise<void> {
    const before = first ?? (await this.choose("Compare a compile: which one is before the change?"));
    const after = before && (second ?? (await this.choose(`Compare ${before.name} (${before.detail}) with`, before)));
    if (before === undefined || after === undefined) {
      return;
    }
    const sides = { before: sideOf(before), after: sideOf(after) };
    const query = JSON.stringify(sides);
    try {
      const comparison = await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title: "Comparing compiles" },
        () => this.comparison(query),
      );
      // The answer comes first: VS Code shows texts only after it has compared them, for seconds.
      const title = given ?? titleOf(before, after);
      await this.pages.show(title, comparison.markdown);
      if (comparison.texts !== null) {
        const [left, right] = SIDES.map((side) => documentOf(side, query));
        await vscode.commands.executeCommand("vscode.diff", left, right, `${title} (before ↔ after)`, {
          preview: false,
          background: true,
        });
      } else {
        await this.showMaps(sides);
      }
    } catch (error) {
      showFailure(error);
    }
  }

  async provideTextDocumentContent({ path, query }: vscode.Uri): Promise<string> {
    const { texts } = await this.comparison(query);
    return texts?.[path.startsWith("/before") ? 0 : 1].text ?? "";
  }

  /** Return the lines of both dumps that define the instruction at the cursor. */
  async provideDefinition(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Location[]> {
    const { texts } = await this.comparison(document.uri.query);
    const range = document.getWordRangeAtPosition(position, /[\w.-]+/u);
    const name = range === undefined ? "" : document.getText(range);
    const places: vscode.Location[] = [];
    for (const { uri, text, lines } of texts ?? []) {
      const line = lines[text.split("\n").findIndex((each) => definedName(each) === name)];
      if (line !== undefined) {
        places.push(await this.windows.locate(vscode.Uri.parse(uri), new vscode.Range(line, 0, line, 0)));
      }
    }
    return places;
  }

  /** Return the line of the dump that a line of a compared text shows. */
  async fileLine({ query, path }: vscode.Uri, line: number): Promise<FileLine | undefined> {
    const text = (await this.comparison(query)).texts?.[path.startsWith("/before") ? 0 : 1];
    const found = text?.lines[line];
    return text === undefined || found === undefined ? undefined : { uri: text.uri, line: found };
  }

  /** Show lines of dumps in the compared texts that are open; return the lines that are there. */
  async reveal(places: readonly FileLine[]): Promise<FileLine[]> {
    const found: FileLine[] = [];
    for (const editor of vscode.window.visibleTextEditors) {
      const { scheme, query, path } = editor.document.uri;
      const texts = scheme === SCHEME ? (await this.comparison(query)).texts : null;
      const text = texts?.[path.startsWith("/before") ? 0 : 1];
      const place = places.find(({ uri }) => uri === text?.uri);
      const line = place === undefined ? -1 : (text?.lines.indexOf(place.line) ?? -1);
      if (place !== undefined && line >= 0) {
        found.push(place);
        editor.selection = new vscode.Selection(line, 0, line, 0);
        editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      }
    }
    return found;
  }

  private comparison(query: string): Promise<Comparison> {
    let found = this.known.get(query);
    if (found === undefined) {
      found = this.request(JSON.parse(query) as Sides);
      this.known.set(query, found);
      found.catch(() => this.known.delete(query));
    }
    return found;
  }

  private async request(sides: Sides): Promise<Comparison> {
    const client = await this.server.clientForCommand();
    if (client === undefined) {
      throw new Error("The HLO language server is not running.");
    }
    const { texts, ...comparison } = await client.sendRequest(CompareRequest, sides);
    const [before, after] = texts ?? [];
    const isKnown = before !== undefined && after !== undefined;
    return { ...comparison, texts: isKnown ? [withNormalUri(before), withNormalUri(after)] : null };
  }

  private async choose(title: string, other?: CompileChoice): Promise<CompileChoice | undefined> {
    const open = vscode.window.activeTextEditor?.document.uri.toString();
    const rank = (compile: CompileChoice): number => (other === undefined ? openFirst(compile, open) : alikeFirst(compile, other));
    const compiles = this.dumps.compiles().then((all) => [...all].sort((one, two) => rank(one) - rank(two)));
    const items = compiles.then((all) => [
      ...all
        .filter(({ uri, line }) => uri !== other?.uri || line !== other.line)
        .map((compile) => ({
          label: compile.name,
          description: compile.detail,
          detail: vscode.workspace.asRelativePath(vscode.Uri.parse(compile.uri)),
          compile,
        })),
      { label: "Another file...", description: "", detail: "", compile: undefined },
    ]);
    const chosen = await vscode.window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true });
    return chosen === undefined ? undefined : (chosen.compile ?? chooseFile());
  }
}

/** Rank a compile by whether a file is one of its files. */
function openFirst({ uri, files = [] }: CompileChoice, open: string | undefined): number {
  return [uri, ...files].some((file) => vscode.Uri.parse(file).toString() === open) ? 0 : 1;
}

/** Rank a compile by whether it is of the same function, and then of the same platform. */
function alikeFirst(compile: CompileChoice, other: CompileChoice): number {
  return (compile.name === other.name ? 0 : 2) + (compile.backend === other.backend ? 0 : 1);
}

/** Return the name that a line of a compared text defines: that of an instruction or a computation. */
function definedName(line: string): string | undefined {
  return /^ +(?:ROOT )?([\w.-]+) = |^(?:ENTRY )?([\w.-]+) \{$/u.exec(line)?.slice(1).find(Boolean);
}

/** Return a text whose URI is as VS Code writes it. */
function withNormalUri(text: ComparedText): ComparedText {
  return { ...text, uri: vscode.Uri.parse(text.uri).toString() };
}

async function chooseFile(): Promise<CompileChoice | undefined> {
  const [file] = (await vscode.window.showOpenDialog({ openLabel: "Compare" })) ?? [];
  return file && { name: file.path.slice(file.path.lastIndexOf("/") + 1), uri: file.toString(), line: 0, detail: file.fsPath };
}

function sideOf({ uri, line }: CompileChoice): FileLine {
  return { uri, line };
}

/** Return what two compiles are called in the title of a tab: what differs first, and the one before on the left. */
function titleOf(before: CompileChoice, after: CompileChoice): string {
  const sides = [before, after].map(({ uri }) => {
    const path = vscode.workspace.asRelativePath(vscode.Uri.parse(uri));
    return { folder: posix.dirname(path), title: posix.basename(path) };
  });
  const names = before.name === after.name ? before.name : `${before.name} → ${after.name}`;
  return `${distinguishing(sides).join(" → ")} ${names}`;
}

function documentOf(side: (typeof SIDES)[number], query: string): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: `/${side}.hlo`, query });
}
