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
  /** Return the hover of the editor at a line as HTML, undefined if there is none. */
  hover(place: FileLine, name: string): Promise<string | undefined>;
}

/** Messages of the extension to the page. */
export type ToPage =
  | { readonly type: "data"; readonly document: unknown }
  | { readonly type: "error"; readonly message: string }
  | { readonly type: "cursor"; readonly uri: string; readonly line: number }
  | { readonly type: "hover"; readonly request: number; readonly html: string | undefined };

/** Messages of the page to the extension. */
export type FromPage =
  | { readonly type: "ready" }
  | { readonly type: "open"; readonly places: readonly FileLine[]; readonly others: readonly FileLine[] }
  | { readonly type: "hover"; readonly request: number; readonly place: FileLine; readonly name: string };

export const BROWSER: Host = {
  isEditor: false,
  open: () => undefined,
  hover: () => Promise.resolve(undefined),
};
