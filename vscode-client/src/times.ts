import * as vscode from "vscode";
import { ExecuteCommandRequest, RequestType } from "vscode-languageclient/node";
import { chooseEntry, type Entry } from "./entries";
import type { FileWindows } from "./fileWindows";
import { showFailure, withoutLinks } from "./notifications";
import type { Server } from "./server";

interface Hottest {
  readonly title: string;
  readonly instructions: readonly Entry[];
  readonly lines: readonly Entry[];
  readonly phases: readonly Entry[];
}

const HottestRequest = new RequestType<{ uri: string; line: number }, Hottest, void>("hlo/hottest");
const LOAD_PROFILE = "hlo.server.loadProfile";

/** List the instructions, the Python lines, and the phases with the most time in the compile of the active editor. */
export async function showHottest(server: Server, windows: FileWindows): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const client = editor === undefined ? undefined : await server.clientForCommand();
  if (editor === undefined || client === undefined) {
    return; // the error message is already shown
  }
  const { uri, range } = await windows.place(editor.document.uri, editor.selection.active);
  try {
    const params = { uri: client.code2ProtocolConverter.asUri(uri), line: range.start.line };
    const { title, instructions, lines, phases } = await client.sendRequest(HottestRequest, params);
    await chooseEntry(client, windows, { title, placeHolder: "Go to an instruction, a Python line, or a phase" }, [
      { title: "instructions", entries: instructions },
      { title: "Python lines", entries: lines },
      { title: "phases", entries: phases },
    ]);
  } catch (error) {
    showFailure(error);
  }
}

/**
 * Load a profile, which then precedes others, and show what ran in it.
 *
 * @param file the profile; without it, the user chooses one
 */
export async function loadProfile(server: Server, file?: vscode.Uri): Promise<void> {
  const client = await server.clientForCommand();
  const chosen = client === undefined ? undefined : (file ?? (await chooseProfile()));
  if (client === undefined || chosen === undefined) {
    return;
  }
  const document = vscode.window.activeTextEditor?.document.uri;
  const uris = [chosen, document].map((uri) => (uri === undefined ? null : client.code2ProtocolConverter.asUri(uri)));
  try {
    const params = { command: LOAD_PROFILE, arguments: uris };
    const text = String(await client.sendRequest(ExecuteCommandRequest.type, params));
    void vscode.window.showInformationMessage(withoutLinks(text.replaceAll("\n", "; ")));
  } catch (error) {
    showFailure(error);
  }
}

async function chooseProfile(): Promise<vscode.Uri | undefined> {
  const found = await vscode.window.showOpenDialog({
    title: "Load a Profile of JAX",
    openLabel: "Load",
    filters: { "Profiles (*.xplane.pb, *.trace.json.gz)": ["pb", "gz", "json"] },
  });
  return found?.[0];
}
