import * as vscode from "vscode";
import { RequestType } from "vscode-languageclient/node";
import { chooseEntry, type Entry } from "./entries";
import type { FileWindows } from "./fileWindows";
import { showFailure } from "./notifications";
import type { Server } from "./server";

interface Hottest {
  readonly title: string;
  readonly instructions: readonly Entry[];
  readonly lines: readonly Entry[];
  readonly phases: readonly Entry[];
}

const HottestRequest = new RequestType<{ uri: string; line: number }, Hottest, void>("hlo/hottest");
const MAX_LINES = 10; // the time summary has more

/** List the phases, the Python lines, and the instructions with the most time in the compile of the active editor. */
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
    await chooseEntry(client, windows, { title, placeHolder: "Go to a phase, a Python line, or an instruction" }, [
      { title: "phases", entries: phases },
      { title: "Python lines", entries: lines.slice(0, MAX_LINES) },
      { title: "instructions", entries: instructions },
    ]);
  } catch (error) {
    showFailure(error);
  }
}
