import * as vscode from "vscode";
import { RequestType } from "vscode-languageclient/node";
import type { CompileComparison } from "./comparison";
import type { CompileChoice, DumpsView } from "./dumpsView";
import { showFailure } from "./notifications";
import type { Server } from "./server";

interface Host {
  readonly name: string;
  readonly uri: string;
  /** It has another program; null if that is unknown. */
  readonly isOther?: boolean | null;
}

const HostsRequest = new RequestType<{ uri: string }, { hosts: readonly Host[] }, void>("hlo/hosts");

/** Open the file of the active editor as another host wrote it. */
export async function openOnOtherHost(server: Server, dumps: DumpsView): Promise<void> {
  const host = await chooseHost(server, activeFile(), "Open the same file of another host");
  if (host !== undefined) {
    await dumps.open(vscode.Uri.parse(host.uri));
  }
}

/** Compare a compile, by default that of the active editor, with the same one of another host. */
export async function compareWithOtherHost(
  server: Server,
  comparison: CompileComparison,
  compile?: CompileChoice,
): Promise<void> {
  const file = compile === undefined ? activeFile() : vscode.Uri.parse(compile.uri);
  const host = await chooseHost(server, file, "Compare with the same compile of another host");
  if (file !== undefined && host !== undefined) {
    const choice = (uri: string, detail: string): CompileChoice => ({ name: nameOf(file), uri, line: 0, detail });
    await comparison.compare(choice(file.toString(), "this host"), choice(host.uri, host.name));
  }
}

async function chooseHost(server: Server, file: vscode.Uri | undefined, title: string): Promise<Host | undefined> {
  const client = file === undefined ? undefined : await server.clientForCommand();
  if (file === undefined || client === undefined) {
    return undefined;
  }
  try {
    const uri = client.code2ProtocolConverter.asUri(file);
    const { hosts } = await client.sendRequest(HostsRequest, { uri });
    if (hosts.length === 0) {
      void vscode.window.showInformationMessage(`No other host has ${nameOf(file)}.`);
      return undefined;
    }
    const items = hosts.map((host) => ({
      label: host.name,
      description: host.isOther === true ? "another program" : "",
      host,
    }));
    return (await vscode.window.showQuickPick(items, { title }))?.host;
  } catch (error) {
    showFailure(error);
    return undefined;
  }
}

function activeFile(): vscode.Uri | undefined {
  return vscode.window.activeTextEditor?.document.uri;
}

function nameOf(file: vscode.Uri): string {
  return file.path.slice(file.path.lastIndexOf("/") + 1);
}
