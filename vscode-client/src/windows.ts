/**
 * Windows: documents with the lines around a record of a file that is too large to open.
 *
 * The server reads them from the file on disk. The URI of a window contains the lines, the URI of the
 * file, and its modification time, so that VS Code can request the text again and a changed file has
 * new windows: `hlo-window:/lines 4001-4200/NAME?URI-OF-THE-FILE#STAMP`. In the code, lines count
 * from 0.
 */

export const SCHEME = "hlo-window";

/** The result of the request `hlo/window`. */
export interface WindowReply {
  readonly text: string;
  readonly firstLine: number;
  readonly lineCount: number;
}

export interface Window extends WindowReply {
  /** URI of the file. */
  readonly file: string;
  /** The modification time of the file. */
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

const MAX_CACHED_WINDOWS = 32; // each has a few hundred kilobytes

export class Windows {
  private readonly cached: Window[] = []; // the latest first

  /** @param request requests a window from the server; undefined if it has none */
  constructor(private readonly request: (file: string, line: number) => Promise<WindowReply | undefined>) {}

  /** Return the window that contains a line of a file; undefined if there is none. */
  async at(file: string, line: number, stamp: string): Promise<Window | undefined> {
    const known = this.cached.find(
      (window) => window.file === file && window.stamp === stamp && shows(window, line),
    );
    return known ?? this.fetch(file, line, stamp);
  }

  /** Return the window of a name, requested again if it is not cached. */
  async named(name: WindowName): Promise<Window | undefined> {
    const known = this.cached.find((window) => isSame(nameOf(window), name));
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
    this.cached.unshift(window);
    this.cached.splice(MAX_CACHED_WINDOWS);
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

/** Convert a range in a file to one in the window, at most up to its end. */
export function inWindow(window: Window, span: Span): Span {
  const last = window.firstLine + window.lineCount;
  const end = span.end.line < last ? span.end : { line: last, character: 0 };
  return { start: moved(span.start, -window.firstLine), end: moved(end, -window.firstLine) };
}

/** Convert a position in a window to one in the file. */
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
