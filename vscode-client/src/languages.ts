/**
 * The languages of the extension, and their detection by the first lines of a text.
 *
 * VS Code does not read files with a known extension such as `.txt`. The expressions are those of
 * the server (`syntax/file_kinds.py`).
 */

export type Language =
  | "hlo"
  | "xla-buffer-assignment"
  | "xla-values"
  | "xla-live-range"
  | "xla-memory-report"
  | "xla-thunks"
  | "xla-stdout"
  | "xla-oom"
  | "xla-flags";

export const LANGUAGES: readonly Language[] = [
  "hlo",
  "xla-buffer-assignment",
  "xla-values",
  "xla-live-range",
  "xla-memory-report",
  "xla-thunks",
  "xla-stdout",
  "xla-oom",
  "xla-flags",
];

/** The number of lines to search: output of a program may come before the first dump. */
const MAX_DETECTION_LINES = 60;
/** The number of lines to search for an out-of-memory message, which a long log may come before. */
export const MAX_MESSAGE_LINES = 20_000;
const MAX_LINE_CHARACTERS = 400;

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
/** What the server looks for in other texts (`syntax/oom_lines.py`): a log may come before it. */
const OUT_OF_MEMORY = [
  /Ran out of memory (?:in memory space|on \w+, the total memory)/,
  /Program hbm requirement |Largest program allocations in hbm:|Entry Parameter Subshape: |XLA [Ll]abel: /,
  /Allocation \(size=\d+\) would exceed memory|Scoped allocation with size \d/,
  /Out of (?:host )?memory (?:while trying to allocate|allocating) \d/,
  /Allocator \([\w.:]+\) ran out of memory trying to allocate \d|cuMemAllocAsync failed to allocate \d/,
  /Attempting to \w+ [\d.]+[A-Za-z]*(?: at the bottom of memory|\. That was not possible)/,
  /Failed to allocate request for \d|Could not allocate \d+ bytes in memory |Not enough PA budget/,
  /[Ff]ailed to alloc(?:ate)? [\d.]+\w*(?: \(\d+ bytes\)| bytes) (?:from device|on host|of (?:pinned )?host memory)/,
  /failed to allocate host memory: (?:HIP_ERROR_|hipError)/,
  /(?:Shared|Tensor) memory size limit exceeded/,
  /TPU TensorCore Hbm usage: \d|unlikely to have enough memory\. Requires \d|Can't reduce memory use below /,
  /legitimate user allocatable offset upper bound|No viable logical replica count for the embedding table/,
];
const TOTAL = "Total bytes used: ";

/**
 * Return the language of a text; undefined if it is not a dump. Blank lines and comments may come first.
 *
 * @param lines the first lines, at most MAX_MESSAGE_LINES
 */
export function detectLanguage(lines: readonly string[]): Language | undefined {
  const head = lines.slice(0, MAX_DETECTION_LINES);
  if (head.some((line) => SECTION.test(line))) {
    return "xla-stdout";
  }
  const [first = "", second = ""] = head
    .filter((line) => /\S/.test(line) && !/^\s*\/\//.test(line))
    .map((line) => line.slice(0, MAX_LINE_CHARACTERS));
  if (first.startsWith(TOTAL)) {
    return second.startsWith("Allocations sorted by size") ? "xla-memory-report" : "xla-values";
  }
  const language = FIRST.find(([expression]) => expression.test(first))?.[1];
  return language ?? (lines.some(isOutOfMemory) ? "xla-oom" : undefined);
}

function isOutOfMemory(line: string): boolean {
  return OUT_OF_MEMORY.some((expression) => expression.test(line));
}
