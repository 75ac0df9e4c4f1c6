/** Who owns the bytes of the map: pieces of boxes that do not overlap, and the owner of each pixel. */

import Flatbush from "flatbush";
import type { Allocation, Box, Space } from "./model";
import type { StepAxis } from "./stepAxis";

/** Parts of the axis of steps and bytes; the ends are exclusive. */
export interface Rectangle {
  readonly start: number;
  readonly end: number;
  readonly low: number;
  readonly high: number;
}

/** A part of the map with one owner: a box, or a fixed allocation in which no value is live. */
export interface Piece extends Rectangle {
  readonly allocation: Allocation;
  readonly box: Box | undefined;
}

/** The owner of a part of the map. */
export interface Owner {
  readonly piece: Piece;
  /** The share of its color in the bytes and steps that have an owner. */
  readonly share: number;
  /** Number of boxes in this part. */
  readonly boxCount: number;
}

/** Shares that differ by rounding are equal; the color with the lower number is the owner then. */
const TIE = 1e-9;

/** Return whether a piece has no live value; false if a live range in its allocation is unknown. */
export function isUnused({ box, allocation }: Piece): boolean {
  return box === undefined && allocation.boxes.every(({ start }) => start >= 0);
}

/** The pieces of a memory space, to be found by their position. */
export class Pieces {
  /** The whole boxes with a known live range, which may overlap. */
  readonly whole: readonly Piece[];
  /** The parts of the boxes that do not overlap, and the rest of the fixed allocations. */
  readonly cut: readonly Piece[];
  private readonly wholeIndex: Flatbush | undefined;
  private readonly cutIndex: Flatbush | undefined;

  /** @param axis the axis of the module, on all of which fixed allocations are occupied */
  constructor(
    space: Space,
    readonly axis: StepAxis,
  ) {
    this.whole = space.boxes.filter(({ start }) => start >= 0).map((box) => wholeOf(box, axis));
    this.wholeIndex = indexOf(this.whole);
    const cut = this.whole.flatMap((piece, number) => this.withoutEarlier(piece, number));
    for (const allocation of space.allocations.filter(({ isFixed }) => isFixed)) {
      const { base, size } = allocation;
      let rest: Piece[] = [{ allocation, box: undefined, start: 0, end: axis.length, low: base, high: base + size }];
      for (const box of allocation.boxes.filter(({ start }) => start >= 0)) {
        rest = rest.flatMap((piece) => without(piece, wholeOf(box, axis)));
      }
      cut.push(...rest);
    }
    this.cut = cut;
    this.cutIndex = indexOf(cut);
  }

  /**
   * Return what has most bytes and steps of a part of the map: the largest piece of the largest color.
   *
   * @param chosen the boxes to emphasize, which come first; undefined for all alike
   */
  ownerOf(
    area: Rectangle,
    colorOf: (piece: Piece) => number,
    chosen: ReadonlySet<Box> | undefined,
  ): Owner | undefined {
    const emphasized =
      chosen === undefined
        ? []
        : find(this.wholeIndex, this.whole, area).filter(({ box }) => box !== undefined && chosen.has(box));
    const pieces = emphasized.length > 0 ? emphasized : find(this.cutIndex, this.cut, area);
    const sums: number[] = [];
    for (const piece of pieces) {
      sums[colorOf(piece)] = (sums[colorOf(piece)] ?? 0) + common(piece, area);
    }
    let color = -1;
    let total = 0;
    sums.forEach((sum, each) => {
      total += sum;
      if (sum > (sums[color] ?? 0) * (1 + TIE)) {
        color = each;
      }
    });
    const [largest] = pieces
      .filter((piece) => colorOf(piece) === color)
      .sort((one, other) => common(other, area) - common(one, area));
    const boxCount = new Set(pieces.flatMap(({ box }) => box ?? [])).size;
    return largest && { piece: largest, share: (sums[color] ?? 0) / total, boxCount };
  }

  /** Return the parts of a box that no earlier value occupies, to which shared bytes belong. */
  private withoutEarlier(piece: Piece, number: number): Piece[] {
    const earlier = this.wholeIndex?.search(piece.start, piece.low, piece.end, piece.high, (other) => other < number) ?? [];
    return earlier.reduce<Piece[]>(
      (parts, other) => parts.flatMap((part) => without(part, this.whole[other] ?? part)),
      [piece],
    );
  }
}

/** The owner of each pixel of a part of the map; 0 for none, else 1 more than the number of its color. */
export class PixelOwners {
  readonly owners: Uint8Array;
  /** The share of each pixel that has any owner. */
  readonly covered: Float64Array;
  private readonly shares: Float64Array;
  /** The change of the covered share from one pixel of a row to the next, for one color. */
  private readonly changes: Float64Array;
  private readonly isChanged: Uint8Array; // by row
  private readonly stride: number;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.stride = width + 2;
    this.owners = new Uint8Array(width * height);
    this.covered = new Float64Array(width * height);
    this.shares = new Float64Array(width * height);
    this.changes = new Float64Array(this.stride * height);
    this.isChanged = new Uint8Array(height);
  }

  /** Add a rectangle in pixels to the color that {@link finish} closes. */
  add(left: number, top: number, right: number, bottom: number): void {
    const [first, last] = [Math.max(0, left), Math.min(this.width, right)];
    const [start, end] = [Math.max(0, top), Math.min(this.height, bottom)];
    if (first >= last || start >= end) {
      return;
    }
    const [firstPixel, lastPixel] = [Math.floor(first), Math.floor(last)];
    for (let row = Math.floor(start); row < end; row += 1) {
      const height = Math.min(end, row + 1) - Math.max(start, row);
      const at = row * this.stride;
      this.change(at + firstPixel, height * (firstPixel + 1 - first));
      this.change(at + firstPixel + 1, height * (first - firstPixel));
      this.change(at + lastPixel, -height * (lastPixel + 1 - last));
      this.change(at + lastPixel + 1, -height * (last - lastPixel));
      this.isChanged[row] = 1;
    }
  }

  /** Give each pixel to a color if it has more of the pixel than the colors before. */
  finish(color: number): void {
    for (let row = 0; row < this.height; row += 1) {
      if (this.isChanged[row] === 0) {
        continue;
      }
      this.isChanged[row] = 0;
      let share = 0;
      for (let column = 0; column < this.width; column += 1) {
        share += this.changes[row * this.stride + column] ?? 0;
        const pixel = row * this.width + column;
        if (share > TIE) {
          this.covered[pixel] = (this.covered[pixel] ?? 0) + share;
          if (share > (this.shares[pixel] ?? 0) + TIE) {
            this.shares[pixel] = share;
            this.owners[pixel] = color + 1;
          }
        }
      }
      this.changes.fill(0, row * this.stride, (row + 1) * this.stride);
    }
  }

  /** Clear the pixels of a color at the right and at the bottom of a rectangle, so that its end is visible. */
  clearEdges(left: number, top: number, right: number, bottom: number, color: number): void {
    const [column, row] = [Math.ceil(right) - 1, Math.ceil(bottom) - 1];
    const clear = (atColumn: number, atRow: number): void => {
      const pixel = atRow * this.width + atColumn;
      if (atColumn < this.width && atRow < this.height && this.owners[pixel] === color + 1) {
        this.owners[pixel] = 0;
      }
    };
    for (let each = Math.max(0, Math.floor(top)); each <= Math.min(row, this.height - 1); each += 1) {
      clear(column, each);
    }
    for (let each = Math.max(0, Math.floor(left)); each <= Math.min(column, this.width - 1); each += 1) {
      clear(each, row);
    }
  }

  private change(index: number, amount: number): void {
    this.changes[index] = (this.changes[index] ?? 0) + amount;
  }
}

function wholeOf(box: Box, axis: StepAxis): Piece {
  const { allocation, start, end, low, size } = box;
  return { allocation, box, start: axis.at(start), end: axis.at(end + 1), low, high: low + size };
}

function indexOf(pieces: readonly Piece[]): Flatbush | undefined {
  if (pieces.length === 0) {
    return undefined; // Flatbush needs at least one
  }
  const index = new Flatbush(pieces.length);
  for (const { start, low, end, high } of pieces) {
    index.add(start, low, end, high);
  }
  index.finish();
  return index;
}

/** Return the pieces that have bytes and steps in common with an area. */
function find(index: Flatbush | undefined, pieces: readonly Piece[], area: Rectangle): Piece[] {
  const found = index?.search(area.start, area.low, area.end, area.high) ?? [];
  return found.flatMap((number) => pieces[number] ?? []).filter((piece) => common(piece, area) > 0);
}

/** Return the bytes times steps that two rectangles have in common. */
function common(one: Rectangle, other: Rectangle): number {
  const steps = Math.min(one.end, other.end) - Math.max(one.start, other.start);
  const bytes = Math.min(one.high, other.high) - Math.max(one.low, other.low);
  return steps > 0 && bytes > 0 ? steps * bytes : 0;
}

/** Return the parts of a piece that lie outside of another one. */
function without(piece: Piece, other: Piece): Piece[] {
  if (common(piece, other) === 0) {
    return [piece];
  }
  const [start, end] = [Math.max(piece.start, other.start), Math.min(piece.end, other.end)];
  const parts: Piece[] = [
    { ...piece, end: start },
    { ...piece, start: end },
    { ...piece, start, end, high: other.low },
    { ...piece, start, end, low: other.high },
  ];
  return parts.filter((part) => part.start < part.end && part.low < part.high);
}
