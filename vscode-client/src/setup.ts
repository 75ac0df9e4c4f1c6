import * as vscode from "vscode";
import type { Discovery, Interpreter, Launch } from "./discovery";
import type { PrivateEnvironment } from "./privateEnvironment";
import { canBeChosen } from "./selectedPython";

const SET_UP = "Set Up";
const CHOOSE = "Choose Python";
const SETTINGS = "Open Settings";
const LOG = "Show Log";

/** What helps when no server was found: an environment of our own, or the user. */
export class Setup {
  constructor(
    private readonly own: PrivateEnvironment,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** A server after all; undefined if there is none now. Choosing a Python starts another search. */
  async help(discovery: Exclude<Discovery, { kind: "found" }>): Promise<Launch | undefined> {
    if (discovery.kind === "setting-wrong") {
      await this.complain(`There is no program \`${discovery.setting}\`, which the setting hlo.server.path names.`);
      return undefined;
    }
    const { base } = discovery;
    if (base === undefined) {
      await this.complain("The HLO language server needs Python 3.10 or newer, and none was found.");
      return undefined;
    }
    this.log.info(`no Python has hlo-lsp; ${base.path} can be the base of an environment`);
    return (await this.own.wasMadeBefore()) || (await this.isWanted(base)) ? this.make(base) : undefined;
  }

  /** Say what is wrong, with what can be done about it. */
  async complain(message: string): Promise<void> {
    this.log.error(message);
    await this.act(await vscode.window.showErrorMessage(message, CHOOSE, SETTINGS, LOG));
  }

  private async isWanted(base: Interpreter): Promise<boolean> {
    const answer = await vscode.window.showInformationMessage(
      "No Python here has hlo-lsp, the server behind hovers, lenses and checks. Set it up in an environment of " +
        `this extension? It uses Python ${base.version.join(".")} (${base.path}) and needs no network.`,
      SET_UP,
      CHOOSE,
    );
    await this.act(answer);
    return answer === SET_UP;
  }

  private async make(base: Interpreter): Promise<Launch | undefined> {
    try {
      const command = await vscode.window.withProgress(
        {
          location: vscode.ProgressLocation.Notification,
          title: "Setting up the HLO language server",
          cancellable: true,
        },
        (progress, token) => {
          const stop = new AbortController();
          token.onCancellationRequested(() => {
            stop.abort();
          });
          const report = (message: string): void => {
            this.log.info(message);
            progress.report({ message });
          };
          return this.own.make(base.path, report, stop.signal);
        },
      );
      return { command, args: ["-m", "hlo_lsp"], origin: "private" };
    } catch (error) {
      await this.complain(`The HLO language server could not be set up: ${String(error)}`);
      return undefined;
    }
  }

  private async act(answer: string | undefined): Promise<void> {
    if (answer === CHOOSE) {
      await choosePython();
    } else if (answer === SETTINGS) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "hlo.server.path");
    } else if (answer === LOG) {
      this.log.show(true);
    }
  }
}

async function choosePython(): Promise<void> {
  if (canBeChosen()) {
    await vscode.commands.executeCommand("python.setInterpreter");
    return;
  }
  const title = "A Python that has hlo-lsp, or hlo-lsp itself";
  const [chosen] = (await vscode.window.showOpenDialog({ title, openLabel: "Use" })) ?? [];
  if (chosen !== undefined) {
    const settings = vscode.workspace.getConfiguration("hlo");
    await settings.update("server.path", chosen.fsPath, vscode.ConfigurationTarget.Global);
  }
}
