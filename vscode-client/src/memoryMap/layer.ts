/** The boxes of a memory space as a picture: each pixel has the color of the owner of most of its bytes. */

import { colorOfKind, NEUTRAL_COLOR, type Groups, type Theme } from "./colors";
import { clipped, FONT, textOfLength, type Area, type Scale } from "./drawing";
import { formatBytes } from "./format";
import type { Box } from "./model";
import { isUnused, PixelOwners, type Owner, type Piece, type Pieces, type Rectangle } from "./owners";

/** Added to the color of a fixed allocation in which no value is live. */
const UNUSED = 64;
const UNUSED_ALPHA = 0.45;
const DIM_ALPHA = 0.13;
const MIN_ALPHA = 0.25; // of a pixel with few bytes, which must not be overlooked
const MIN_GAP_PIXELS = 4; // larger boxes are separated by a gap
const MIN_LABEL_WIDTH = 56;
const MIN_LABEL_HEIGHT = 13;
const MAX_LABELS = 400;

/** Pieces in typed arrays, ordered by color. */
class ColoredPieces {
  readonly pieces: readonly Piece[];
  private readonly places: Float64Array; // start, end, low, high
  private readonly colors: Uint8Array;

  constructor(pieces: readonly Piece[], colorOf: (piece: Piece) => number) {
    const colored = pieces.map((piece) => ({ piece, color: colorOf(piece) }));
    colored.sort((one, other) => one.color - other.color);
    this.pieces = colored.map(({ piece }) => piece);
    this.colors = Uint8Array.from(colored, ({ color }) => color);
    this.places = new Float64Array(4 * colored.length);
    this.pieces.forEach(({ start, end, low, high }, index) => {
      this.places.set([start, end, low, high], 4 * index);
    });
  }

  /** Find the owners of the pixels of an area; return the pieces with room for a label. */
  drawTo(pixels: PixelOwners, x: Scale, y: Scale, isWanted: (piece: Piece) => boolean): Piece[] {
    const { pieces, places, colors } = this;
    const [xScale, yScale] = [x(1) - x(0), y(1) - y(0)]; // the first byte is at the bottom
    const [xZero, yZero] = [x(0), y(0)];
    const large: Piece[] = [];
    const gaps: (readonly [number, number, number, number, number])[] = [];
    let color = colors[0] ?? 0;
    for (let index = 0; index < pieces.length; index += 1) {
      const place = 4 * index;
      const left = xZero + (places[place] ?? 0) * xScale;
      const right = xZero + (places[place + 1] ?? 0) * xScale;
      const bottom = yZero + (places[place + 2] ?? 0) * yScale;
      const top = yZero + (places[place + 3] ?? 0) * yScale;
      const piece = pieces[index];
      if (right <= 0 || left >= pixels.width || bottom <= 0 || top >= pixels.height || piece === undefined || !isWanted(piece)) {
        continue;
      }
      if (colors[index] !== color) {
        pixels.finish(color);
        color = colors[index] ?? NEUTRAL_COLOR;
      }
      pixels.add(left, top, right, bottom);
      const width = Math.min(right, pixels.width) - Math.max(left, 0);
      const height = Math.min(bottom, pixels.height) - Math.max(top, 0);
      if (width > MIN_GAP_PIXELS && height > MIN_GAP_PIXELS) {
        gaps.push([left, top, right, bottom, color]);
      }
      if (width > MIN_LABEL_WIDTH && height > MIN_LABEL_HEIGHT && large.length < MAX_LABELS) {
        large.push(piece);
      }
    }
    pixels.finish(color);
    for (const gap of gaps) {
      pixels.clearEdges(...gap);
    }
    return large;
  }
}

export class BoxLayer {
  private readonly cut: ColoredPieces;
  private readonly whole: ColoredPieces;
  private readonly canvas = document.createElement("canvas");

  constructor(
    private readonly pieces: Pieces,
    private readonly groups: Groups,
  ) {
    this.cut = new ColoredPieces(pieces.cut, this.colorOf);
    this.whole = new ColoredPieces(pieces.whole, this.colorOf);
  }

  get boxCount(): number {
    return this.pieces.whole.length;
  }

  /**
   * Draw all boxes that are in an area, and the names of large ones.
   *
   * @param chosen the boxes to emphasize; the others are dimmed unless it is undefined
   */
  draw(
    context: CanvasRenderingContext2D,
    area: Area,
    x: Scale,
    y: Scale,
    theme: Theme,
    chosen: ReadonlySet<Box> | undefined,
  ): void {
    const isChosen = ({ box }: Piece): boolean => box !== undefined && chosen?.has(box) === true;
    const drawPieces = (pieces: ColoredPieces, isWanted: (piece: Piece) => boolean, alpha: number): Piece[] => {
      const pixels = new PixelOwners(Math.ceil(area.width), Math.ceil(area.height));
      const large = pieces.drawTo(pixels, x, y, isWanted);
      this.paint(context, area, pixels, theme, alpha);
      return large;
    };
    if (chosen === undefined) {
      drawLabels(context, area, x, y, theme, drawPieces(this.cut, () => true, 1));
    } else {
      drawPieces(this.cut, (piece) => !isChosen(piece), DIM_ALPHA);
      drawLabels(context, area, x, y, theme, drawPieces(this.whole, isChosen, 1));
    }
  }

  /** Return what has most bytes of a part of the map, by the rule by which pixels get their color. */
  ownerOf(area: Rectangle, chosen: ReadonlySet<Box> | undefined): Owner | undefined {
    return this.pieces.ownerOf(area, this.colorOf, chosen);
  }

  private readonly colorOf = (piece: Piece): number => {
    const { box, allocation } = piece;
    if (box !== undefined) {
      return this.groups.of(box)?.color ?? NEUTRAL_COLOR;
    }
    return colorOfKind(allocation.kind) + (isUnused(piece) ? UNUSED : 0);
  };

  private paint(context: CanvasRenderingContext2D, area: Area, pixels: PixelOwners, theme: Theme, alpha: number): void {
    const { width, height, owners, covered } = pixels;
    this.canvas.width = width;
    this.canvas.height = height;
    const image = new ImageData(width, height);
    for (let pixel = 0; pixel < owners.length; pixel += 1) {
      const owner = (owners[pixel] ?? 0) - 1;
      if (owner >= 0) {
        const isUnused = owner >= UNUSED;
        const color = theme.channels[isUnused ? owner - UNUSED : owner] ?? [0, 0, 0];
        const share = MIN_ALPHA + (1 - MIN_ALPHA) * Math.min(1, covered[pixel] ?? 0);
        image.data.set(color, 4 * pixel);
        image.data[4 * pixel + 3] = Math.round(255 * alpha * share * (isUnused ? UNUSED_ALPHA : 1));
      }
    }
    this.canvas.getContext("2d")?.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    clipped(context, area, () => {
      context.drawImage(this.canvas, area.x, area.y);
    });
  }
}

/** Outline large boxes, and write names and sizes into them where no other label is. */
function drawLabels(
  context: CanvasRenderingContext2D,
  area: Area,
  x: Scale,
  y: Scale,
  theme: Theme,
  large: readonly Piece[],
): void {
  context.font = FONT;
  context.textBaseline = "middle";
  context.fillStyle = theme.label;
  context.strokeStyle = theme.background;
  context.lineWidth = 1;
  const labels: { left: number; right: number; middle: number }[] = [];
  for (const { box, start, end, low, high } of large) {
    const left = Math.max(area.x, area.x + x(start));
    const right = Math.min(area.x + area.width, area.x + x(end));
    const top = Math.max(area.y, area.y + y(high));
    const bottom = Math.min(area.y + area.height, area.y + y(low));
    context.strokeRect(left - 0.5, top - 0.5, right - left, bottom - top);
    if (box === undefined) {
      continue;
    }
    const middle = (top + bottom) / 2;
    const whole = `${box.label}  ${formatBytes(box.size)}`;
    const width = right - left - 8;
    const text = context.measureText(whole).width <= width ? whole : textOfLength(context, box.label, width);
    const labelEnd = left + 8 + context.measureText(text).width;
    const isFree = labels.every(
      (other) => other.right < left || labelEnd < other.left || Math.abs(other.middle - middle) > MIN_LABEL_HEIGHT,
    );
    if (text !== "" && isFree) {
      labels.push({ left, right: labelEnd, middle });
      context.fillText(text, left + 4, middle);
    }
  }
}
