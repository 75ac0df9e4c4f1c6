import { createHash } from "node:crypto";
import { relative, sep } from "node:path";
import * as vscode from "vscode";
import { shortened } from "./dumpLabels";

const MAX_NAME_LENGTH = 100; // a file system allows about 255 bytes
const MAX_AGE = 7 * 24 * 60 * 60 * 1000; // milliseconds; a window that is opened again shows its previews again

/**
 * Write a page for the Markdown preview, whose links lead to files.
 *
 * Each text is a document of its own: VS Code keeps the text of a document outside of the workspace
 * after its tab is closed, and would show that in place of a newer one.
 *
 * @param storage the folder of the extension
 * @param name the name of the page, which the title of its tab shows
 */
export async function writePage(storage: vscode.Uri, name: string, markdown: string): Promise<vscode.Uri> {
  const pages = vscode.Uri.joinPath(storage, "pages");
  const folder = vscode.Uri.joinPath(pages, createHash("sha256").update(markdown).digest("hex").slice(0, 12));
  const page = vscode.Uri.joinPath(folder, `${shortened(name.replace(/[^\w .,→-]/gu, "_"), MAX_NAME_LENGTH)}.md`);
  const text = withRelativeLinks(withShortPaths(markdown), folder.fsPath);
  await vscode.workspace.fs.writeFile(page, new TextEncoder().encode(text));
  void removeOldPages(pages, folder);
  return page;
}

async function removeOldPages(pages: vscode.Uri, kept: vscode.Uri): Promise<void> {
  const oldest = Date.now() - MAX_AGE;
  for (const [name] of await vscode.workspace.fs.readDirectory(pages)) {
    const folder = vscode.Uri.joinPath(pages, name);
    try {
      if (folder.path !== kept.path && (await vscode.workspace.fs.stat(folder)).mtime < oldest) {
        await vscode.workspace.fs.delete(folder, { recursive: true });
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
