/** What VS Code does with large files, and what a user is told about it. */

/** Bytes up to which a text is shared with extensions (TextModel._MODEL_SYNC_LIMIT). */
export const SYNCHRONISED = 50 * 1024 * 1024;
/** Bytes up to which colours, folding and lenses are offered (LARGE_FILE_SIZE_THRESHOLD). */
export const OPTIMISED = 20 * 1024 * 1024;
/** Lines up to which they are (LARGE_FILE_LINE_COUNT_THRESHOLD). */
export const OPTIMISED_LINES = 300_000;

/** How much of a file VS Code serves: all of it, all but what it turns off, or nothing. */
export type Service = "full" | "reduced" | "none";

export function serviceFor(bytes: number, lines = 0): Service {
  if (bytes > SYNCHRONISED) {
    return "none";
  }
  return bytes > OPTIMISED || lines > OPTIMISED_LINES ? "reduced" : "full";
}

/** What to say about a file that is not served in full. */
export function explain(name: string, bytes: number, service: "reduced" | "none"): string {
  const size = `${name} has ${(bytes / 1024 / 1024).toFixed(0)} MiB`;
  return service === "reduced"
    ? `${size}: VS Code shows no lenses, folding and colours in files of its size. Hover, go to, ` +
        "references, outline and problems work."
    : `${size}: VS Code shares no text above 50 MiB with extensions, so there is no help inside of it. ` +
        "The other files of the compile know it nevertheless: go to definition opens a window on the " +
        "record that is meant.";
}
