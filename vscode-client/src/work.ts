import type {
  ProgressToken,
  WorkDoneProgressBegin,
  WorkDoneProgressEnd,
  WorkDoneProgressReport,
} from "vscode-languageclient";

/** The long work that the server has told of and not ended: reading large files, mostly. */
export class Work {
  private readonly titles = new Map<ProgressToken, string>();

  constructor(private readonly changed: () => void) {}

  told(
    token: ProgressToken,
    progress: WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd,
  ): void {
    if (progress.kind === "begin") {
      this.titles.set(token, progress.title);
    } else if (progress.kind === "end") {
      this.titles.delete(token);
    } else {
      return;
    }
    this.changed();
  }

  /** A server that died ends no work. */
  forget(): void {
    this.titles.clear();
  }

  /** What goes on, the oldest first. */
  get current(): readonly string[] {
    return [...this.titles.values()];
  }
}
