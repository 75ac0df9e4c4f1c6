/** The visible part of the map: the areas of the canvas, and the scales of steps and bytes with their zoom. */

import { scaleLinear } from "d3-scale";
import { select, type Selection } from "d3-selection";
import { zoom, zoomIdentity, zoomTransform, type D3ZoomEvent, type ZoomBehavior } from "d3-zoom";
import type { Area, Scale, StepScale } from "./drawing";
import type { Box, Module, Space } from "./model";
import { EqualSteps, type StepAxis } from "./stepAxis";

export const BAND_HEIGHT = 16;
const GAP = 10;
const LEFT = 78;
const RIGHT = 10;
const CURVE_TOP = 6;
const CURVE_HEIGHT = 92;
const CURVE_SHARE = 0.25; // of the height, at most
const MAX_BAND_ROWS = 4;
const AXIS_HEIGHT = 26;
const TITLE_HEIGHT = 14; // of the axis, if there is a choice
const TIMES_HEIGHT = 12;
const MAX_ZOOM = 20_000;
const MAX_REVEAL_STEPS = 400;
const MAX_REVEAL_BYTES = 4000;
/** What the scale of the curve has above its lowest value and below it, relative to its height. */
const CURVE_HEADROOM = 1.12;
const CURVE_FOOTROOM = 0.06;

const NO_STEPS = new EqualSteps(1);

type Extent = [[number, number], [number, number]];
type Holder = Selection<SVGGElement, unknown, null, undefined>;

/** What maps side by side have in common: the zoom, and the lengths of their axes. */
export class Frame {
  // Detached elements that hold the transforms of the axes, which are zoomed separately.
  readonly holderX = createHolder();
  readonly holderY = createHolder();
  readonly zoomX: ZoomBehavior<SVGGElement, unknown> = zoom<SVGGElement, unknown>();
  readonly zoomY: ZoomBehavior<SVGGElement, unknown> = zoom<SVGGElement, unknown>();
  private readonly redraws: (() => void)[] = [];

  /** Shows fixed allocations, or only temporary ones, which lie after them. */
  showsFixed = true;
  /** Shows steps as wide as their time, if it is known in all maps. */
  showsTime = false;
  hasTimes = false;
  longestTime = 0; // of a step
  length = 1;
  curveRange: readonly [number, number] = [0, 1];
  hasCurve = false;
  bandRows = 0;
  private spaces: readonly Space[] = [];

  constructor() {
    for (const behavior of [this.zoomX, this.zoomY]) {
      behavior.scaleExtent([1, MAX_ZOOM]).extent([
        [0, 0],
        [1, 1],
      ]);
    }
  }

  /** Fit the axes to the maps that are shown. */
  fit(modules: readonly Module[], spaces: readonly Space[]): void {
    this.spaces = spaces;
    this.hasTimes = modules.every(({ timedSteps }) => timedSteps !== undefined);
    this.longestTime = Math.max(...modules.map(({ timedSteps }) => timedSteps?.longest ?? 0));
    this.length = Math.max(...modules.map((module) => this.axisOf(module).length));
    const curves = spaces.flatMap(({ curve }) => curve ?? []);
    const peak = Math.max(0, ...curves.map(({ peakBytes }) => peakBytes));
    const hidesAll = spaces.every((space) => this.hidesFixed(space));
    const fixed = hidesAll ? Math.min(peak, ...curves.map(({ fixedBytes }) => fixedBytes)) : 0;
    const height = Math.max(1, peak - fixed);
    this.curveRange = [Math.max(0, fixed - height * CURVE_FOOTROOM), fixed + height * CURVE_HEADROOM];
    this.hasCurve = spaces.some(({ curve }) => curve !== undefined);
    const depths = modules.flatMap(({ bands }) => bands).map(({ depth }) => depth + 1);
    this.bandRows = depths.reduce((most, depth) => Math.max(most, Math.min(MAX_BAND_ROWS, depth)), 0);
  }

  axisOf({ equalSteps, timedSteps }: Module): StepAxis {
    return this.showsTime && this.hasTimes ? (timedSteps ?? equalSteps) : equalSteps;
  }

  /** Return the first byte of a memory space that is shown, and the one after the last. */
  byteRange(space: Space | undefined): [number, number] {
    const start = space === undefined ? 0 : this.firstByte(space);
    const lengths = this.spaces.map((each) => each.mappedBytes - this.firstByte(each));
    return [start, start + Math.max(1, ...lengths)];
  }

  /** Return whether fixed allocations are left out; never if there are no others, or none with known steps. */
  hidesFixed({ allocations, curve }: Space): boolean {
    return !this.showsFixed && curve !== undefined && allocations.some(({ isFixed }) => !isFixed);
  }

  onRedraw(redraw: () => void): void {
    this.redraws.push(redraw);
  }

  redraw(): void {
    this.redraws.forEach((redraw) => {
      redraw();
    });
  }

  private firstByte(space: Space): number {
    return this.hidesFixed(space) ? (space.allocations.find(({ isFixed }) => !isFixed)?.base ?? 0) : 0;
  }
}

export class Viewport {
  private previous = zoomIdentity;

  width = 0;
  height = 0;
  module: Module | undefined;
  space: Space | undefined;

  constructor(readonly frame: Frame) {}

  /** Return the areas of the canvas, from top to bottom. */
  areas(): { curve: Area; times: Area; bands: Area; map: Area } {
    const width = Math.max(1, this.width - LEFT - RIGHT);
    const rows = this.frame.bandRows;
    const curveHeight = this.frame.hasCurve ? Math.min(CURVE_HEIGHT, Math.floor(this.height * CURVE_SHARE)) : 0;
    const timesTop = CURVE_TOP + curveHeight + (curveHeight > 0 ? GAP : 0);
    const timesHeight = this.frame.hasTimes ? TIMES_HEIGHT : 0;
    const bandTop = timesTop + timesHeight;
    const axisHeight = AXIS_HEIGHT + (this.frame.hasTimes ? TITLE_HEIGHT : 0);
    const mapTop = bandTop + rows * BAND_HEIGHT;
    return {
      curve: { x: LEFT, y: CURVE_TOP, width, height: curveHeight },
      times: { x: LEFT, y: timesTop, width, height: timesHeight },
      bands: { x: LEFT, y: bandTop, width, height: rows * BAND_HEIGHT },
      map: { x: LEFT, y: mapTop, width, height: Math.max(1, this.height - mapTop - axisHeight) },
    };
  }

  /** Return the scale from the horizontal axis to pixels of the map. */
  x(): Scale {
    return zoomTransform(this.frame.holderX.node() as Element).rescaleX(this.baseX());
  }

  /** Return where steps are in pixels of the map. */
  steps(): StepScale {
    const [x, axis] = [this.x(), this.axis];
    return { pixel: (step) => x(axis.at(step)), stepAt: (pixel) => axis.stepAt(x.invert(pixel)) };
  }

  /** Return the scale from bytes to pixels of the map. */
  y(): Scale {
    return zoomTransform(this.frame.holderY.node() as Element).rescaleY(this.baseY());
  }

  /** Return the scale from occupied bytes to pixels of the curve. */
  curveY(): Scale {
    return scaleLinear(this.frame.curveRange, [this.areas().curve.height, 0]);
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    const { map } = this.areas();
    const extent: Extent = [
      [0, 0],
      [Math.max(1, map.width), Math.max(1, map.height)],
    ];
    this.frame.zoomX.extent(extent).translateExtent(extent);
    this.frame.zoomY.extent(extent).translateExtent(extent);
  }

  /** Show everything. */
  reset(): void {
    this.frame.zoomX.transform(this.frame.holderX, zoomIdentity);
    this.frame.zoomY.transform(this.frame.holderY, zoomIdentity);
  }

  /** Move a box to the middle, and zoom so far that it can be seen. */
  reveal(box: Box): void {
    const { map } = this.areas();
    const [base, y] = [this.baseX(), this.baseY()];
    const x = (step: number): number => base(this.axis.at(step));
    const zoomFor = (pixels: number, room: number): number =>
      Math.min(MAX_ZOOM, Math.max(1, (room * 0.25) / Math.max(pixels, 1e-9)));
    const steps = x(box.end + 1) - x(box.start);
    const bytes = y(box.low) - y(box.low + box.size);
    this.frame.zoomX.scaleTo(this.frame.holderX, Math.min(zoomFor(steps, map.width), MAX_REVEAL_STEPS));
    this.frame.zoomY.scaleTo(this.frame.holderY, Math.min(zoomFor(bytes, map.height), MAX_REVEAL_BYTES));
    this.frame.zoomX.translateTo(this.frame.holderX, x((box.start + box.end + 1) / 2), 0);
    this.frame.zoomY.translateTo(this.frame.holderY, 0, y(box.low + box.size / 2));
  }

  /** Move the map by parts of its width and height. */
  pan(x: number, y: number): void {
    const { map } = this.areas();
    this.panPixels(x * map.width, y * map.height);
  }

  /**
   * Zoom in or out by factors for steps and bytes.
   *
   * @param pointer the pixel of the map whose step stays where it is; undefined for the middle
   */
  scale(steps: number, bytes: number, pointer?: number): void {
    this.frame.zoomX.scaleBy(this.frame.holderX, steps, pointer === undefined ? undefined : [pointer, 0]);
    this.frame.zoomY.scaleBy(this.frame.holderY, bytes);
  }

  /**
   * Apply a gesture to the axes: to both, or to one with Shift or Alt or on the labels of an axis.
   *
   * @param start where the pointer was at the start of the gesture
   */
  applyGesture(event: D3ZoomEvent<HTMLCanvasElement, unknown>, start: readonly [number, number]): void {
    const { transform } = event;
    const source = event.sourceEvent as (MouseEvent & { deltaY?: number }) | null;
    const factor = transform.k / this.previous.k;
    const { map } = this.areas();
    const [left, top] = source instanceof WheelEvent ? [source.offsetX, source.offsetY] : start;
    const isOnBytes = left < map.x;
    const isOnSteps = top > map.y + map.height || top < map.y;
    const doesX = !isOnBytes && source?.altKey !== true;
    const doesY = !isOnSteps && source?.shiftKey !== true;
    if (factor === 1) {
      this.panPixels(doesX ? transform.x - this.previous.x : 0, doesY ? transform.y - this.previous.y : 0);
    } else {
      const point: [number, number] = [left - map.x, top - map.y];
      if (doesX) {
        this.frame.zoomX.scaleBy(this.frame.holderX, factor, point);
      }
      if (doesY) {
        this.frame.zoomY.scaleBy(this.frame.holderY, factor, point);
      }
    }
    this.previous = transform;
  }

  private panPixels(x: number, y: number): void {
    this.frame.zoomX.translateBy(this.frame.holderX, x / zoomTransform(this.frame.holderX.node() as Element).k, 0);
    this.frame.zoomY.translateBy(this.frame.holderY, 0, y / zoomTransform(this.frame.holderY.node() as Element).k);
  }

  private get axis(): StepAxis {
    return this.module === undefined ? NO_STEPS : this.frame.axisOf(this.module);
  }

  private baseX(): Scale {
    return scaleLinear([0, this.frame.length], [0, this.areas().map.width]);
  }

  private baseY(): Scale {
    return scaleLinear(this.frame.byteRange(this.space), [this.areas().map.height, 0]);
  }
}

function createHolder(): Holder {
  return select(document.createElementNS("http://www.w3.org/2000/svg", "g"));
}
