/**
 * The languages of the extension, and which of them a text is by its first lines.
 *
 * VS Code itself never looks into a file whose extension is known, and `.txt` is. The expressions
 * are those of the server (`syntax/kinds.py`): what it calls a dump is one here, too.
 */

export type Language =
  | "hlo"
  | "xla-buffer-assignment"
  | "xla-values"
  | "xla-live-range"
  | "xla-memory-report"
  | "xla-thunks"
  | "xla-stdout";

export const LANGUAGES: readonly Language[] = [
  "hlo",
  "xla-buffer-assignment",
  "xla-values",
  "xla-live-range",
  "xla-memory-report",
  "xla-thunks",
  "xla-stdout",
];

/** How many lines are looked at: output of a program may stand before the first dump in it. */
export const SNIFFED_LINES = 60;
const SEEN = 400; // characters of a line

const SECTION = /\*\*\* Begin .+ \*\*\*$/;
const FIRST: readonly (readonly [RegExp, Language])[] = [
  [/^BufferAssignment:/, "xla-buffer-assignment"],
  [/^Used values:/, "xla-values"],
  [/^HloLiveRange /, "xla-live-range"],
  [/^(?:Memory Space: |Allocations sorted by size|memory_space_allocation_entries)/, "xla-memory-report"],
  [/^HloModule [%A-Za-z_]/, "hlo"],
  [/^(?:ENTRY %?[\w.-]+ .*|%[\w.-]+ \(.*\) -> .*)\{$/, "hlo"], // one computation, as of a Triton kernel
  [/^(?:\d{3,}: )?k[A-Z]\w+(?: *\t| +\[(?:source|prev=))/, "xla-thunks"],
];
const TOTAL = "Total bytes used: ";

/** The language of a text, undefined for whatever is no dump. Blank lines and comments may come first. */
export function languageOf(lines: readonly string[]): Language | undefined {
  const seen = lines.slice(0, SNIFFED_LINES);
  if (seen.some((line) => SECTION.test(line))) {
    return "xla-stdout";
  }
  const [first = "", second = ""] = seen
    .filter((line) => /\S/.test(line) && !/^\s*\/\//.test(line))
    .map((line) => line.slice(0, SEEN));
  if (first.startsWith(TOTAL)) {
    return second.startsWith("Allocations sorted by size") ? "xla-memory-report" : "xla-values";
  }
  return FIRST.find(([expression]) => expression.test(first))?.[1];
}
