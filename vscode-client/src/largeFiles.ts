/** The limits of VS Code for large files, and the messages about them. */

/** The size in bytes up to which VS Code shares a text with extensions (TextModel._MODEL_SYNC_LIMIT). */
export const MAX_SYNCHRONIZED_BYTES = 50 * 1024 * 1024;
/** The size in bytes up to which colors, folding, lenses, and hints are on (LARGE_FILE_SIZE_THRESHOLD). */
export const MAX_FULL_SERVICE_BYTES = 20 * 1024 * 1024;
/** The same in lines (LARGE_FILE_LINE_COUNT_THRESHOLD). */
export const MAX_FULL_SERVICE_LINES = 300_000;

/** Which features VS Code offers in a file: all, all but those for small files, or none. */
export type Service = "full" | "reduced" | "none";

export function serviceFor(bytes: number, lines = 0): Service {
  if (bytes > MAX_SYNCHRONIZED_BYTES) {
    return "none";
  }
  return bytes > MAX_FULL_SERVICE_BYTES || lines > MAX_FULL_SERVICE_LINES ? "reduced" : "full";
}

/** Return the message about a file that is not served in full. */
export function explain(name: string, bytes: number, service: "reduced" | "none"): string {
  const size = `${name} is ${(bytes / 1024 / 1024).toFixed(0)} MiB`;
  return service === "reduced"
    ? `${size}. VS Code turns off colors, folding, code lenses, and inlay hints in files of this size. Hovers, ` +
        "navigation, the outline, and problems still work."
    : `${size}. VS Code does not share files larger than 50 MiB with extensions. Go to Definition in the other ` +
        "files of the compile opens a window on the matching record of this file.";
}
