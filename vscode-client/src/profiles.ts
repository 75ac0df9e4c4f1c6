import * as vscode from "vscode";
import { ExecuteCommandRequest } from "vscode-languageclient/node";
import { LANGUAGES } from "./languages";
import { showFailure, withoutLinks } from "./notifications";
import type { Pages } from "./previewPage";
import type { Server } from "./server";

const LOAD_PROFILE = "hlo.server.loadProfile";
const COMPARE_PROFILES = "hlo.server.compareProfiles";
const PROFILES = "**/*.xplane.pb";
const SHOW = "Cost and Time";
const COMPARE = "Compare With...";

/** Loads and compares profiles of JAX. */
export class Profiles {
  private loaded?: vscode.Uri;

  constructor(
    private readonly server: Server,
    private readonly pages: Pages,
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
      this.loaded = chosen;
      const isDump = document !== undefined && LANGUAGES.some((language) => language === document.languageId);
      void this.offer(chosen, withoutLinks(text.replaceAll("\n", "; ")), isDump ? document : undefined);
    } catch (error) {
      showFailure(error);
    }
  }

  /**
   * Compare two profiles; the user chooses those that are not given.
   *
   * Without any, the loaded profile, or else the newest one in the workspace, is the one after the change.
   */
  async compare(first?: vscode.Uri, second?: vscode.Uri): Promise<void> {
    const newest = async (): Promise<vscode.Uri | undefined> => this.loaded ?? (await profilesInWorkspace())[0];
    const known = second ?? (first === undefined ? await newest() : undefined);
    const before = first ?? (await choose("Compare profiles: which one is before the change?", "After the change", known));
    const after = before && (known ?? (await choose("Compare profiles: which one is after the change?", "Before the change", before)));
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
      await this.pages.show("Profile Comparison", text);
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

/** Return the profiles in the workspace, the newest run first. */
async function profilesInWorkspace(): Promise<vscode.Uri[]> {
  const key = ({ path }: vscode.Uri): string => path.split("/").slice(-2).join("/"); // the folder of a run is its date
  const files = await vscode.workspace.findFiles(PROFILES);
  return files.sort((one, two) => (key(one) < key(two) ? 1 : -1));
}

/**
 * Let the user choose one of the profiles in the workspace, or another file.
 *
 * @param title what to choose
 * @param role what the other profile of a comparison is
 * @param other the other profile
 */
async function choose(title: string, role?: string, other?: vscode.Uri): Promise<vscode.Uri | undefined> {
  const found = profilesInWorkspace().then((files) => [
    ...files
      .filter((file) => file.toString() !== other?.toString())
      .map((file) => ({ label: vscode.workspace.asRelativePath(file), file })),
    { label: "Another file...", file: undefined },
  ]);
  const placeHolder = role === undefined || other === undefined ? "" : `${role}: ${vscode.workspace.asRelativePath(other)}`;
  const chosen = await vscode.window.showQuickPick(found, { title, placeHolder });
  return chosen === undefined ? undefined : (chosen.file ?? chooseFile(title));
}

async function chooseFile(title: string): Promise<vscode.Uri | undefined> {
  const found = await vscode.window.showOpenDialog({
    title,
    filters: { "Profiles (*.xplane.pb, *.trace.json.gz)": ["pb", "gz", "json"] },
  });
  return found?.[0];
}
