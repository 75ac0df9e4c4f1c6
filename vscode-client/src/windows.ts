/**
 * Windows on files that are too large to be opened: the lines around a record, as a text of its own.
 *
 * The server cuts them out of the file on disk. A window is named by a URI that says which lines of
 * which file it shows, and of when, so that VS Code can ask for its text again and a file that was
 * written anew has new windows: `hlo-window:/lines 4001-4200/NAME?URI-OF-THE-FILE#STAMP`. Lines are
 * counted from 0 in the code.
 */

export const SCHEME = "hlo-window";

/** What the server answers to `hlo/window`. */
export interface WindowReply {
  readonly text: string;
  readonly firstLine: number;
  readonly lineCount: number;
}

export interface Window extends WindowReply {
  /** URI of the file. */
  readonly file: string;
  /** What changes when the file does: its time of change. */
  readonly stamp: string;
}

export interface Point {
  readonly line: number;
  readonly character: number;
}

export interface Span {
  readonly start: Point;
  readonly end: Point;
}

/** The parts of the URI of a window. */
export interface WindowName {
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

const KEPT = 32; // windows; each is a few hundred kilobytes

export class Windows {
  private readonly known: Window[] = []; // the latest first

  /** @param request asks the server; undefined when it has no such window */
  constructor(private readonly request: (file: string, line: number) => Promise<WindowReply | undefined>) {}

  /** The window that shows a line of a file; undefined if there is none. */
  async at(file: string, line: number, stamp: string): Promise<Window | undefined> {
    const known = this.known.find(
      (window) => window.file === file && window.stamp === stamp && shows(window, line),
    );
    return known ?? this.fetch(file, line, stamp);
  }

  /** The window of a name. It is cut anew if it is no longer kept. */
  async named(name: WindowName): Promise<Window | undefined> {
    const known = this.known.find((window) => isSame(nameOf(window), name));
    if (known !== undefined) {
      return known;
    }
    const lines = /^\/lines (\d+)-\d+\//.exec(name.path);
    return lines === null || name.query === ""
      ? undefined
      : this.fetch(name.query, Number(lines[1]) - 1, name.fragment);
  }

  private async fetch(file: string, line: number, stamp: string): Promise<Window | undefined> {
    const reply = await this.request(file, line);
    if (reply === undefined) {
      return undefined;
    }
    const window = { ...reply, file, stamp };
    this.known.unshift(window);
    this.known.splice(KEPT);
    return window;
  }
}

export function nameOf({ file, stamp, firstLine, lineCount }: Window): WindowName {
  const name = decodeURIComponent(file.slice(file.lastIndexOf("/") + 1));
  return {
    path: `/lines ${firstLine + 1}-${firstLine + lineCount}/${name}`,
    query: file,
    fragment: stamp,
  };
}

/** A place in a file as one in the window; its end is cut where the window ends. */
export function inWindow(window: Window, span: Span): Span {
  const last = window.firstLine + window.lineCount;
  const end = span.end.line < last ? span.end : { line: last, character: 0 };
  return { start: moved(span.start, -window.firstLine), end: moved(end, -window.firstLine) };
}

/** A place in a window as one in the file. */
export function inFile(window: Window, point: Point): Point {
  return moved(point, window.firstLine);
}

function moved(point: Point, lines: number): Point {
  return { line: point.line + lines, character: point.character };
}

function shows(window: Window, line: number): boolean {
  return window.firstLine <= line && line < window.firstLine + window.lineCount;
}

function isSame(one: WindowName, other: WindowName): boolean {
  return one.path === other.path && one.query === other.query && one.fragment === other.fragment;
}
