import * as vscode from "vscode";
import { RequestType } from "vscode-languageclient/node";
import { DUMPS_VIEW, type DumpsView } from "./dumpsView";
import { showFailure } from "./notifications";
import type { Server } from "./server";

const FolderRequest = new RequestType<{ url: string }, { uri: string; folder: string }, void>("hlo/remoteFolder");

let lastUrl = "";

/** List the dumps in a remote folder in the view; without a URL, ask for it. */
export async function openRemoteDumps(server: Server, dumps: DumpsView, given?: unknown): Promise<void> {
  const url = typeof given === "string" ? given : (await askForUrl())?.trim();
  const client = url ? await server.clientForCommand() : undefined;
  if (!url || client === undefined) {
    return;
  }
  lastUrl = url;
  try {
    const { uri, folder } = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: `Listing ${url}`, cancellable: true },
      (_, token) => client.sendRequest(FolderRequest, { url }, token),
    );
    dumps.addRemoteFolder(folder);
    await vscode.commands.executeCommand(`${DUMPS_VIEW}.focus`);
    if (uri !== folder) {
      await dumps.open(vscode.Uri.parse(uri));
    }
  } catch (error) {
    showFailure(error);
  }
}

function askForUrl(): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: "Open Dumps from a URL",
    prompt: "A folder or a file, such as gs://bucket/dumps, s3://bucket/dumps, or https://host/dumps/",
    value: lastUrl,
    ignoreFocusOut: true,
  });
}
