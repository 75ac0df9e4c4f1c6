/** What surrounds the page: an editor, or nothing if it is a file in a browser. */

/** A line of a dump file, from 0. */
export interface FileLine {
  readonly uri: string;
  readonly line: number;
}

export interface Host {
  /** True if places can be opened beside the map. */
  readonly isEditor: boolean;
  /**
   * Show one of these lines: that of the file that is open, else the first one.
   *
   * @param others lines of the corresponding box, to show beside it if both texts are open for comparison
   */
  open(places: readonly FileLine[], others: readonly FileLine[]): void;
}

/** Messages of the extension to the page. */
export type ToPage =
  | { readonly type: "data"; readonly document: unknown }
  | { readonly type: "error"; readonly message: string }
  | { readonly type: "cursor"; readonly uri: string; readonly line: number };

/** Messages of the page to the extension. */
export type FromPage =
  | { readonly type: "ready" }
  | { readonly type: "open"; readonly places: readonly FileLine[]; readonly others: readonly FileLine[] };

export const BROWSER: Host = {
  isEditor: false,
  open: () => undefined,
};
