/** Numbers and names as texts for users. */

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Format a size with three digits, as the server does: `4.00 MiB`. */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || size >= 100 ? (unit === 0 ? 0 : 1) : size >= 10 ? 1 : 2;
  return `${size.toFixed(digits)} ${UNITS[unit] ?? ""}`;
}

/** Format a change of a size: `+4.00 MiB`, or `0 B` without a change. */
export function formatChange(bytes: number): string {
  return `${bytes > 0 ? "+" : bytes < 0 ? "−" : ""}${formatBytes(Math.abs(bytes))}`;
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
