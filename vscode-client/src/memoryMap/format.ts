/** Numbers and names as texts for users. */

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;

/** Format a size as `format_short_bytes` of the server does, and XLA: `512 B`, `34.8 KiB`, `4.00 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) {
    return `${bytes} B`;
  }
  let size = Math.floor(bytes);
  let unit = 0;
  for (; size >= 1024 * 1024 && unit < UNITS.length - 1; unit += 1) {
    size = Math.floor(size / 1024);
  }
  const digits = unit === 0 ? 1 : 2;
  return `${(halfEven((size * 10 ** digits) / 1024) / 10 ** digits).toFixed(digits)} ${UNITS[unit] ?? ""}`;
}

/** Round as Python and C do: half to even. */
function halfEven(number: number): number {
  const floor = Math.floor(number);
  const rest = number - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/** Format a change of a size: `+4.00 MiB`, or `0 B` without a change. */
export function formatChange(bytes: number): string {
  return `${bytes > 0 ? "+" : bytes < 0 ? "−" : ""}${formatBytes(Math.abs(bytes))}`;
}

const TIME_UNITS = [[1e12, "s"], [1e9, "ms"], [1e6, "µs"], [1e3, "ns"]] as const;

/**
 * Format a time in picoseconds with three digits, as `format_time` of the server does: `1.53 ms`, `63.9 µs`.
 *
 * @param resolution the difference to another time that must be visible
 */
export function formatTime(picoseconds: number, resolution?: number): string {
  const [size, unit] = TIME_UNITS.find(([each]) => picoseconds / each >= 0.9995) ?? TIME_UNITS[3];
  const time = picoseconds / size;
  const digits =
    resolution === undefined
      ? time >= 99.95 ? 0 : time >= 9.995 ? 1 : 2
      : Math.max(0, Math.ceil(-Math.log10(resolution / size) - 1e-9));
  return `${time.toFixed(digits)} ${unit}`;
}

export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

export function countNoun(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Shorten a Python line such as `/home/user/train.py:27` to the name of the file. */
export function shortLine(line: string): string {
  return /^.*[\\/]([^\\/]+:\d+)$/.exec(line)?.[1] ?? line;
}

const MAX_LABEL_LENGTH = 11; // that is visible beside the map

/** Return labels for evenly spaced sizes, in a unit in which they differ; if such labels are too long, none for equal ones. */
export function byteLabels(sizes: readonly number[]): string[] {
  const labels = sizes.map(formatBytes);
  const [first = 0, second = first] = sizes;
  const exponent = [4, 3, 2, 1].find((power) => second - first >= 1024 ** power) ?? 0;
  const unit = UNITS[exponent - 1] ?? "B";
  const exact = sizes.map((size) => `${formatCount(size / 1024 ** exponent)} ${unit}`);
  if (new Set(labels).size < sizes.length && exact.every(({ length }) => length <= MAX_LABEL_LENGTH)) {
    return exact;
  }
  return labels.map((label, index) => (label === labels[index - 1] ? "" : label));
}

/** Return tick positions of a byte axis: multiples of a power of two. */
export function byteTicks(low: number, high: number, count: number): number[] {
  const span = Math.max(1, high - low);
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(span / Math.max(1, count))));
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) {
    ticks.push(tick);
  }
  return ticks;
}
