import type {
  ProgressToken,
  WorkDoneProgressBegin,
  WorkDoneProgressEnd,
  WorkDoneProgressReport,
} from "vscode-languageclient";

/** The work in progress that the server has reported, such as reading a large file. */
export class Work {
  private readonly titles = new Map<ProgressToken, string>();

  constructor(private readonly changed: () => void) {}

  update(
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

  /** Forget all work, because a server that has exited does not report its end. */
  clear(): void {
    this.titles.clear();
  }

  /** The titles, the oldest first. */
  get current(): readonly string[] {
    return [...this.titles.values()];
  }
}
