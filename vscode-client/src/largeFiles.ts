/** The limits of VS Code for large files, and the messages about them. */

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

/** Return the message about a file that is not served in full. */
export function explain(name: string, bytes: number, service: "reduced" | "none"): string {
  const size = `${name} is ${(bytes / 1024 / 1024).toFixed(0)} MiB`;
  return service === "reduced"
    ? `${size}. VS Code turns off colors, folding, and code lenses in files of this size. Hovers, navigation, ` +
        "the outline, and problems still work."
    : `${size}. VS Code does not share files larger than 50 MiB with extensions. Go to Definition in the other ` +
        "files of the compile opens a window on the matching record of this file.";
}
