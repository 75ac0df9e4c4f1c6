import * as vscode from "vscode";
import { ExecuteCommandRequest } from "vscode-languageclient/node";
import { LANGUAGES } from "./languages";
import { showFailure, withoutLinks } from "./notifications";
import { writePage } from "./previewPage";
import type { Server } from "./server";

const LOAD_PROFILE = "hlo.server.loadProfile";
const COMPARE_PROFILES = "hlo.server.compareProfiles";
const PROFILES = "**/*.xplane.pb";
const SHOW = "Time Summary";
const COMPARE = "Compare With...";

/** Loads and compares profiles of JAX. */
export class Profiles {
  /**
   * @param storage the folder for pages: previews link only from files to files
   */
  constructor(
    private readonly server: Server,
    private readonly storage: vscode.Uri,
  ) {}

  /**
   * Load a profile, which then precedes others, show what ran in it, and offer what is next.
   *
   * @param file the profile; without it, the user chooses one
   */
  async load(file?: vscode.Uri): Promise<void> {
    const client = await this.server.clientForCommand();
    const chosen = client === undefined ? undefined : (file ?? (await choose("Load a profile of JAX")));
    if (client === undefined || chosen === undefined) {
      return;
    }
    const document = vscode.window.activeTextEditor?.document;
    const uris = [chosen, document?.uri].map((uri) => (uri === undefined ? null : client.code2ProtocolConverter.asUri(uri)));
    const params = { command: LOAD_PROFILE, arguments: uris };
    try {
      const text = String(await client.sendRequest(ExecuteCommandRequest.type, params));
      const isDump = document !== undefined && LANGUAGES.some((language) => language === document.languageId);
      void this.offer(chosen, withoutLinks(text.replaceAll("\n", "; ")), isDump ? document : undefined);
    } catch (error) {
      showFailure(error);
    }
  }

  /** Compare two profiles; the user chooses those that are not given. */
  async compare(first?: vscode.Uri, second?: vscode.Uri): Promise<void> {
    const subject = second === undefined ? "Compare a profile" : `Compare ${nameOf(second)}`;
    const before = first ?? (await choose(`${subject}: which one is before the change?`, second));
    const after = before && (second ?? (await choose(`Compare ${nameOf(before)} with`, before)));
    const client = after === undefined ? undefined : await this.server.clientForCommand();
    if (before === undefined || after === undefined || client === undefined) {
      return;
    }
    const uris = [before, after].map((uri) => client.code2ProtocolConverter.asUri(uri));
    const params = { command: COMPARE_PROFILES, arguments: uris };
    try {
      const text = String(
        await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: "Comparing profiles" }, () =>
          client.sendRequest(ExecuteCommandRequest.type, params),
        ),
      );
      const page = await writePage(this.storage, "profiles", "Profile Comparison", text);
      await vscode.commands.executeCommand("markdown.showPreview", page);
    } catch (error) {
      showFailure(error);
    }
  }

  private async offer(profile: vscode.Uri, text: string, dump?: vscode.TextDocument): Promise<void> {
    const actions = dump === undefined ? [COMPARE] : [SHOW, COMPARE];
    const chosen = await vscode.window.showInformationMessage(text, ...actions);
    if (chosen === SHOW) {
      await vscode.commands.executeCommand("hlo.timeSummary", dump?.uri.toString());
    } else if (chosen === COMPARE) {
      await this.compare(undefined, profile);
    }
  }
}

/** Let the user choose one of the profiles in the workspace, the newest run first, or another file. */
async function choose(title: string, other?: vscode.Uri): Promise<vscode.Uri | undefined> {
  const found = vscode.workspace.findFiles(PROFILES).then((files) => [
    ...files
      .filter((file) => file.toString() !== other?.toString())
      .sort((one, two) => (one.path < two.path ? 1 : -1)) // the folder of a run is its date
      .map((file) => ({ label: vscode.workspace.asRelativePath(file), file })),
    { label: "Another file...", file: undefined },
  ]);
  const chosen = await vscode.window.showQuickPick(found, { title });
  return chosen === undefined ? undefined : (chosen.file ?? chooseFile(title));
}

async function chooseFile(title: string): Promise<vscode.Uri | undefined> {
  const found = await vscode.window.showOpenDialog({
    title,
    filters: { "Profiles (*.xplane.pb, *.trace.json.gz)": ["pb", "gz", "json"] },
  });
  return found?.[0];
}

function nameOf(file: vscode.Uri): string {
  return file.path.slice(file.path.lastIndexOf("/") + 1);
}
