import { createHash } from "node:crypto";
import { posix, relative, sep } from "node:path";
import * as vscode from "vscode";
import { shortened } from "./dumpLabels";

const MAX_NAME_LENGTH = 100; // a file system allows about 255 bytes
/** The end of a number before its unit, which must not begin the next line. */
const NUMBER_AND_UNIT = /(\d) (?=(?:[KMGTPE]?i?B|[kMGTP]?FLOP|[mµn]?s)\b)/gu;
const PAGE_FOLDER = /^[0-9a-f]{12}$/; // the name
const MAX_AGE = 7 * 24 * 60 * 60 * 1000; // milliseconds; a window that is opened again shows its previews again

/** Pages as Markdown previews, whose links lead to files. */
export class Pages {
  private readonly titles = new Set<string>(); // of the tabs

  /** @param storage the folder of the extension: previews link only from files to files */
  constructor(private readonly storage: vscode.Uri) {}

  /** Keep a page beside dumps visible: VS Code opens files from its links in its group, where they would cover it. */
  register(): vscode.Disposable {
    return vscode.window.tabGroups.onDidChangeTabs(({ opened, changed }) => {
      const covering = [...opened, ...changed].find(
        ({ isActive, input, group }) => isActive && group.isActive && input instanceof vscode.TabInputText,
      );
      if (covering?.group.tabs.some(({ label }) => this.titles.has(label)) && covering.group.viewColumn !== vscode.ViewColumn.One) {
        void vscode.commands.executeCommand("workbench.action.moveEditorToPreviousGroup");
      }
    });
  }

  /**
   * Show a page.
   *
   * @param name the name of the page, which the title of its tab shows
   * @param isBeside whether to show it beside the active editor, or where such pages already are
   */
  async show(name: string, markdown: string, isBeside = false): Promise<void> {
    const page = await writePage(this.storage, name, markdown);
    this.titles.add(`Preview ${posix.basename(page.path)}`);
    const isAmongPages = vscode.window.tabGroups.activeTabGroup.tabs.some(({ label }) => this.titles.has(label));
    await vscode.commands.executeCommand(`markdown.showPreview${isBeside && !isAmongPages ? "ToSide" : ""}`, page);
  }
}

/**
 * Write the file of a page.
 *
 * Each text is a document of its own: VS Code keeps the text of a document outside of the workspace
 * after its tab is closed, and would show that in place of a newer one.
 */
async function writePage(storage: vscode.Uri, name: string, markdown: string): Promise<vscode.Uri> {
  const pages = vscode.Uri.joinPath(storage, "pages");
  const folder = vscode.Uri.joinPath(pages, createHash("sha256").update(markdown).digest("hex").slice(0, 12));
  const page = vscode.Uri.joinPath(folder, `${shortened(name.replace(/[^\w .,→-]/gu, "_"), MAX_NAME_LENGTH)}.md`);
  const text = withRelativeLinks(withShortPaths(markdown.replaceAll(NUMBER_AND_UNIT, "$1\u00a0")), folder.fsPath);
  await vscode.workspace.fs.writeFile(page, new TextEncoder().encode(text));
  void removeOldPages(pages);
  void removeOldPages(storage); // where earlier versions wrote pages
  return page;
}

/** Remove the folders of pages that were not written for some days. */
async function removeOldPages(parent: vscode.Uri): Promise<void> {
  const { fs } = vscode.workspace;
  const oldest = Date.now() - MAX_AGE;
  for (const [name] of (await fs.readDirectory(parent)).filter(([each]) => PAGE_FOLDER.test(each))) {
    const folder = vscode.Uri.joinPath(parent, name);
    try {
      const files = await fs.readDirectory(folder);
      const stats = await Promise.all(files.map(([file]) => fs.stat(vscode.Uri.joinPath(folder, file))));
      if (stats.every(({ mtime }) => mtime < oldest)) {
        await fs.delete(folder, { recursive: true });
      }
    } catch {
      // Another window has removed it.
    }
  }
}

/** Leave out the workspace folder of paths in backticks. */
function withShortPaths(markdown: string): string {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.reduce((text, { uri: { fsPath } }) => text.replaceAll(`\`${fsPath}${sep}`, "`"), markdown);
}

/** Replace links to files by relative ones, because the preview ignores URIs of files. */
function withRelativeLinks(markdown: string, folder: string): string {
  return markdown.replaceAll(/\]\((file:[^)#]*)(#L\d+)?\)/gu, (_, uri: string, line = "") => {
    const path = relative(folder, vscode.Uri.parse(uri).fsPath).replaceAll("\\", "/");
    return `](${path.split("/").map(encodeURIComponent).join("/")}${line})`;
  });
}
