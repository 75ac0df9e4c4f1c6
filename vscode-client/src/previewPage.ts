import { createHash } from "node:crypto";
import { relative } from "node:path";
import * as vscode from "vscode";

/**
 * Write a page for the Markdown preview, whose links lead to files.
 *
 * @param storage the folder of the extension
 * @param subject what the page is about; pages of one name about other subjects stay as they are
 * @param name the name of the page, which the title of its tab shows
 */
export async function writePage(storage: vscode.Uri, subject: string, name: string, markdown: string): Promise<vscode.Uri> {
  const folder = vscode.Uri.joinPath(storage, createHash("sha256").update(subject).digest("hex").slice(0, 12));
  const page = vscode.Uri.joinPath(folder, `${name.replace(/[^\w .-]/gu, "_")}.md`);
  const text = withRelativeLinks(markdown, folder.fsPath);
  await vscode.workspace.fs.writeFile(page, new TextEncoder().encode(text));
  return page;
}

/** Replace links to files by relative ones, because the preview ignores URIs of files. */
function withRelativeLinks(markdown: string, folder: string): string {
  return markdown.replaceAll(/\]\((file:[^)#]*)(#L\d+)?\)/gu, (_, uri: string, line = "") => {
    const path = relative(folder, vscode.Uri.parse(uri).fsPath).replaceAll("\\", "/");
    return `](${path.split("/").map(encodeURIComponent).join("/")}${line})`;
  });
}
