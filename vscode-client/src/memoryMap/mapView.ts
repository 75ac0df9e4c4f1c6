/** The map: a canvas with boxes, curve, and bands, which can be zoomed, panned, and pointed at. */

import { axisBottom, axisLeft } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { select, type Selection } from "d3-selection";
import { zoom, zoomIdentity, zoomTransform, type D3ZoomEvent, type ZoomBehavior } from "d3-zoom";
import Flatbush from "flatbush";
import { readTheme, type Groups, type Theme } from "./colors";
import { BoxLayer, drawBands, drawCurve, drawFixed, type Area, type Scale } from "./drawing";
import { byteTicks, formatBytes, formatCount } from "./format";
import { bytesAt, type Allocation, type Box, type Module, type Space } from "./model";

const LEFT = 74;
const RIGHT = 10;
const CURVE_TOP = 6;
const CURVE_HEIGHT = 92;
const GAP = 10;
const BAND_HEIGHT = 16;
const MAX_BAND_ROWS = 4;
const AXIS_HEIGHT = 26;
const MAX_ZOOM = 20_000;
const FAST_DRAW_MILLISECONDS = 9; // what fits into a frame at 60 frames per second
const SETTLE_MILLISECONDS = 90;

const NO_EXTENT: [[number, number], [number, number]] = [
  [0, 0],
  [1, 1],
];

/** What the pointer is on. */
export interface Target {
  readonly step: number;
  readonly box: Box | undefined;
  readonly allocation: Allocation | undefined;
}

export interface MapEvents {
  /** The pointer moved; undefined if it left the map. */
  hover(target: Target | undefined, event: PointerEvent): void;
  click(target: Target): void;
  /** An arrow key with Shift moved the pinned step. */
  step(step: number): void;
}

type Holder = Selection<SVGGElement, unknown, null, undefined>;

export class MapView {
  private readonly canvas = document.createElement("canvas");
  private readonly overlay = document.createElement("canvas");
  private readonly svg = select(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
  private readonly snapshot = document.createElement("canvas");
  // Detached elements that hold the transforms of the axes, which are zoomed separately.
  private readonly holderX: Holder = select(document.createElementNS("http://www.w3.org/2000/svg", "g"));
  private readonly holderY: Holder = select(document.createElementNS("http://www.w3.org/2000/svg", "g"));
  private readonly zoomX: ZoomBehavior<SVGGElement, unknown> = zoom<SVGGElement, unknown>();
  private readonly zoomY: ZoomBehavior<SVGGElement, unknown> = zoom<SVGGElement, unknown>();
  private readonly gesture: ZoomBehavior<HTMLCanvasElement, unknown> = zoom<HTMLCanvasElement, unknown>();
  private previous = zoomIdentity;
  private pointerAtStart: readonly [number, number] = [0, 0];

  private width = 0;
  private height = 0;
  private theme: Theme;
  private module: Module | undefined;
  private space: Space | undefined;
  private layer: BoxLayer | undefined;
  private index: Flatbush | undefined;
  private showsFixed = true;
  private chosen: ReadonlySet<Box> | undefined;
  private selected: Box | undefined;
  private pinned: number | undefined;
  private hovered: Target | undefined;
  private frame = 0;
  private settle: ReturnType<typeof setTimeout> | undefined;
  private isMoving = false;
  private lastDrawMilliseconds = 0;
  private drawn: { x: readonly number[]; y: readonly number[] } | undefined;
  /** Number of boxes in the memory space. */
  boxCount = 0;

  constructor(
    private readonly root: HTMLElement,
    private readonly events: MapEvents,
  ) {
    this.theme = readTheme(root);
    this.overlay.tabIndex = 0;
    this.overlay.setAttribute("role", "application");
    this.overlay.setAttribute("aria-label", "Memory map");
    this.overlay.setAttribute("aria-describedby", "memory-map-keys");
    this.overlay.className = "overlay";
    this.svg.attr("class", "axes").attr("aria-hidden", "true");
    for (const name of ["bytes", "curve-bytes", "steps"]) {
      this.svg.append("g").attr("class", name);
    }
    root.append(this.canvas, this.svg.node() ?? "", this.overlay);
    for (const behavior of [this.zoomX, this.zoomY]) {
      behavior.scaleExtent([1, MAX_ZOOM]).extent(NO_EXTENT);
    }
    this.listen();
    new ResizeObserver(() => {
      this.resize();
    }).observe(root);
  }

  /** Show a memory space. */
  show(module: Module, space: Space, groups: Groups, keepsZoom: boolean): void {
    this.module = module;
    this.space = space;
    this.layer = new BoxLayer(space, groups);
    this.boxCount = this.layer.boxes.length;
    if (!keepsZoom) {
      this.index = indexOf(this.layer.boxes);
      this.selected = undefined;
      this.chosen = undefined;
      this.reset();
    } else {
      this.index = indexOf(this.layer.boxes);
    }
    this.request();
  }

  /** Show fixed allocations or only temporary ones, which lie after them. */
  showFixed(isShown: boolean): void {
    this.showsFixed = isShown;
    this.reset();
  }

  /** Emphasize some boxes; undefined shows all alike. */
  choose(boxes: ReadonlySet<Box> | undefined): void {
    this.chosen = boxes;
    this.request();
  }

  select(box: Box | undefined): void {
    this.selected = box;
    this.drawOverlay();
  }

  pin(step: number | undefined): void {
    this.pinned = step;
    this.drawOverlay();
  }

  /** Read the colors again after a change of the theme. */
  refreshTheme(): void {
    this.theme = readTheme(this.root);
    this.request();
  }

  /** Show everything. */
  reset(): void {
    this.zoomX.transform(this.holderX, zoomIdentity);
    this.zoomY.transform(this.holderY, zoomIdentity);
    this.request();
  }

  /** Move a box to the middle, and zoom so far that it can be seen. */
  reveal(box: Box): void {
    const { map } = this.areas();
    const [x, y] = [this.baseX(), this.baseY()];
    const zoomFor = (pixels: number, room: number): number =>
      Math.min(MAX_ZOOM, Math.max(1, (room * 0.25) / Math.max(pixels, 1e-9)));
    const steps = x(box.end + 1) - x(box.start);
    const bytes = y(box.low) - y(box.low + box.size);
    const kx = Math.min(zoomFor(steps, map.width), 400);
    const ky = Math.min(zoomFor(bytes, map.height), 4000);
    this.zoomX.scaleTo(this.holderX, kx);
    this.zoomY.scaleTo(this.holderY, ky);
    this.zoomX.translateTo(this.holderX, x((box.start + box.end + 1) / 2), 0);
    this.zoomY.translateTo(this.holderY, 0, y(box.low + box.size / 2));
    this.request();
  }

  /** Return where a step and a byte of the memory space are in the page, for tests. */
  clientPoint(step: number, byte: number): { x: number; y: number } {
    const { map } = this.areas();
    const bounds = this.overlay.getBoundingClientRect();
    return { x: bounds.left + map.x + this.x()(step), y: bounds.top + map.y + this.y()(byte) };
  }

  private listen(): void {
    const overlay = select(this.overlay);
    this.gesture
      .scaleExtent([1e-9, 1e9])
      .on("start", (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
        const source = event.sourceEvent as { offsetX?: number; offsetY?: number } | null;
        this.pointerAtStart = [source?.offsetX ?? 0, source?.offsetY ?? 0];
      })
      .on("zoom", (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
        this.zoomed(event);
      });
    overlay.call(this.gesture).on("dblclick.zoom", null);
    let pressed: readonly [number, number] = [0, 0];
    this.overlay.addEventListener("pointerdown", (event) => {
      pressed = [event.clientX, event.clientY];
    });
    this.overlay.addEventListener("click", (event) => {
      if (Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) < 4) {
        const target = this.targetAt(event.offsetX, event.offsetY);
        if (target !== undefined) {
          this.events.click(target);
        }
      }
    });
    this.overlay.addEventListener("dblclick", () => {
      this.reset();
    });
    this.overlay.addEventListener("pointermove", (event) => {
      if (event.buttons === 0) {
        this.hovered = this.targetAt(event.offsetX, event.offsetY);
        this.overlay.style.cursor = this.hovered?.box === undefined ? "crosshair" : "pointer";
        this.events.hover(this.hovered, event);
        this.drawOverlay();
      }
    });
    this.overlay.addEventListener("pointerleave", (event) => {
      this.hovered = undefined;
      this.events.hover(undefined, event);
      this.drawOverlay();
    });
    this.overlay.addEventListener("keydown", (event) => {
      if (this.pressed(event)) {
        event.preventDefault();
      }
    });
  }

  /** Apply a gesture to the axes: to both, or to one with Shift or Alt or on the labels of an axis. */
  private zoomed(event: D3ZoomEvent<HTMLCanvasElement, unknown>): void {
    const { transform } = event;
    const source = event.sourceEvent as (MouseEvent & { deltaY?: number }) | null;
    const factor = transform.k / this.previous.k;
    const { map } = this.areas();
    const [left, top] = source instanceof WheelEvent ? [source.offsetX, source.offsetY] : this.pointerAtStart;
    const isOnBytes = left < map.x;
    const isOnSteps = top > map.y + map.height || top < map.y;
    const doesX = !isOnBytes && source?.altKey !== true;
    const doesY = !isOnSteps && source?.shiftKey !== true;
    if (factor === 1) {
      if (doesX) {
        this.zoomX.translateBy(this.holderX, (transform.x - this.previous.x) / this.transformX().k, 0);
      }
      if (doesY) {
        this.zoomY.translateBy(this.holderY, 0, (transform.y - this.previous.y) / this.transformY().k);
      }
    } else {
      const point: [number, number] = [left - map.x, top - map.y];
      if (doesX) {
        this.zoomX.scaleBy(this.holderX, factor, point);
      }
      if (doesY) {
        this.zoomY.scaleBy(this.holderY, factor, point);
      }
    }
    this.previous = transform;
    this.move();
  }

  private pressed(event: KeyboardEvent): boolean {
    const { map } = this.areas();
    const pan = (x: number, y: number): void => {
      this.zoomX.translateBy(this.holderX, (x * map.width) / this.transformX().k, 0);
      this.zoomY.translateBy(this.holderY, 0, (y * map.height) / this.transformY().k);
    };
    const scale = (factor: number): void => {
      if (!event.altKey) {
        this.zoomX.scaleBy(this.holderX, factor);
      }
      if (!event.shiftKey || event.key === "+") {
        this.zoomY.scaleBy(this.holderY, factor);
      }
    };
    if (event.ctrlKey || event.metaKey) {
      return false;
    }
    const direction = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (event.shiftKey && direction !== 0) {
      const step = Math.max(0, Math.min(this.module?.lastStep ?? 0, (this.pinned ?? 0) + direction));
      this.events.step(step);
      return true;
    }
    switch (event.key) {
      case "ArrowLeft":
        pan(0.1, 0);
        break;
      case "ArrowRight":
        pan(-0.1, 0);
        break;
      case "ArrowUp":
        pan(0, 0.1);
        break;
      case "ArrowDown":
        pan(0, -0.1);
        break;
      case "+":
      case "=":
        scale(1.5);
        break;
      case "-":
      case "_":
        scale(1 / 1.5);
        break;
      case "0":
      case "Home":
        this.reset();
        break;
      default:
        return false;
    }
    this.move();
    return true;
  }

  private targetAt(left: number, top: number): Target | undefined {
    const { map } = this.areas();
    if (left < map.x || left > map.x + map.width || this.space === undefined) {
      return undefined;
    }
    const [x, y] = [this.x(), this.y()];
    const step = Math.max(0, Math.min(this.module?.lastStep ?? 0, Math.floor(x.invert(left - map.x))));
    if (top < map.y || top > map.y + map.height) {
      return { step, box: undefined, allocation: undefined };
    }
    const margin = [Math.abs(x.invert(1) - x.invert(0)), Math.abs(y.invert(1) - y.invert(0))] as const;
    const point = [x.invert(left - map.x), y.invert(top - map.y)] as const;
    return { step, box: this.boxAt(point, margin), allocation: this.allocationAt(point[1]) };
  }

  /** Return the smallest box at a point, or near it if there is none. */
  private boxAt(point: readonly [number, number], margin: readonly [number, number]): Box | undefined {
    const search = (dx: number, dy: number): Box | undefined => {
      const found = this.index?.search(point[0] - dx, point[1] - dy, point[0] + dx, point[1] + dy) ?? [];
      const boxes = found.flatMap((number) => this.layer?.boxes[number] ?? []);
      return boxes.sort((one, other) => areaOf(one) - areaOf(other))[0];
    };
    return search(0, 0) ?? search(margin[0] * 1.5, margin[1] * 1.5);
  }

  private allocationAt(byte: number): Allocation | undefined {
    return this.space?.allocations.find(({ base, size }) => base <= byte && byte < base + size);
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.root;
    if (clientWidth === this.width && clientHeight === this.height) {
      return;
    }
    this.width = clientWidth;
    this.height = clientHeight;
    this.theme = readTheme(this.root); // before the first size, the page is not in the document
    const ratio = window.devicePixelRatio;
    for (const canvas of [this.canvas, this.overlay, this.snapshot]) {
      canvas.width = Math.round(clientWidth * ratio);
      canvas.height = Math.round(clientHeight * ratio);
      canvas.style.width = `${clientWidth}px`;
      canvas.style.height = `${clientHeight}px`;
    }
    this.svg.attr("width", clientWidth).attr("height", clientHeight);
    const { map } = this.areas();
    const extent: [[number, number], [number, number]] = [
      [0, 0],
      [Math.max(1, map.width), Math.max(1, map.height)],
    ];
    this.zoomX.extent(extent).translateExtent(extent);
    this.zoomY.extent(extent).translateExtent(extent);
    this.drawn = undefined;
    this.request();
  }

  private transformX(): { k: number } {
    return zoomTransform(this.holderX.node() as Element);
  }

  private transformY(): { k: number } {
    return zoomTransform(this.holderY.node() as Element);
  }

  private areas(): { curve: Area; bands: Area; map: Area } {
    const width = Math.max(1, this.width - LEFT - RIGHT);
    const rows = Math.min(MAX_BAND_ROWS, 1 + Math.max(-1, ...(this.module?.bands ?? []).map(({ depth }) => depth)));
    const curveHeight = this.space?.curve === undefined ? 0 : CURVE_HEIGHT;
    const bandTop = CURVE_TOP + curveHeight + (curveHeight > 0 ? GAP : 0);
    const mapTop = bandTop + rows * BAND_HEIGHT;
    return {
      curve: { x: LEFT, y: CURVE_TOP, width, height: curveHeight },
      bands: { x: LEFT, y: bandTop, width, height: rows * BAND_HEIGHT },
      map: { x: LEFT, y: mapTop, width, height: Math.max(1, this.height - mapTop - AXIS_HEIGHT) },
    };
  }

  private baseX(): Scale {
    return scaleLinear([0, (this.module?.lastStep ?? 0) + 1], [0, this.areas().map.width]);
  }

  private baseY(): Scale {
    const end = this.space?.allocatedBytes ?? 1;
    const first = this.space?.allocations.find(({ isFixed }) => !isFixed)?.base;
    const start = this.showsFixed || first === undefined ? 0 : first;
    return scaleLinear([start, end], [this.areas().map.height, 0]);
  }

  private x(): Scale {
    return zoomTransform(this.holderX.node() as Element).rescaleX(this.baseX());
  }

  private y(): Scale {
    return zoomTransform(this.holderY.node() as Element).rescaleY(this.baseY());
  }

  /** Draw during a gesture, and once more in full when it ends. */
  private move(): void {
    this.isMoving = true;
    clearTimeout(this.settle);
    this.settle = setTimeout(() => {
      this.isMoving = false;
      this.request();
    }, SETTLE_MILLISECONDS);
    this.request();
  }

  private request(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    const { module, space, layer } = this;
    const context = this.canvas.getContext("2d");
    if (module === undefined || space === undefined || layer === undefined || context === null || this.width === 0) {
      return;
    }
    const { curve, bands, map } = this.areas();
    const [x, y] = [this.x(), this.y()];
    const ratio = window.devicePixelRatio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    if (this.isMoving && this.lastDrawMilliseconds > FAST_DRAW_MILLISECONDS && this.drawn !== undefined) {
      this.drawSnapshot(context, map, x, y);
    } else {
      this.drawMap(context, map, x, y);
    }
    this.clipped(context, { ...curve, y: 0, height: curve.y + curve.height + bands.height + GAP }, () => {
      if (space.curve !== undefined) {
        drawCurve(context, curve, x, this.theme, space.curve);
      }
      drawBands(context, bands, x, this.theme, module.bands, BAND_HEIGHT);
    });
    this.drawAxes(x, y);
    this.drawOverlay();
  }

  private drawMap(context: CanvasRenderingContext2D, map: Area, x: Scale, y: Scale): void {
    const { space, layer } = this;
    if (space === undefined || layer === undefined) {
      return;
    }
    const started = performance.now();
    this.clipped(context, map, () => {
      drawFixed(context, map, y, this.theme, space);
      const large = layer.draw(context, map, x, y, this.theme, this.chosen);
      layer.drawLabels(context, map, x, y, this.theme, large);
    });
    this.lastDrawMilliseconds = performance.now() - started;
    if (this.lastDrawMilliseconds > FAST_DRAW_MILLISECONDS) {
      const copy = this.snapshot.getContext("2d");
      copy?.clearRect(0, 0, this.snapshot.width, this.snapshot.height);
      copy?.drawImage(this.canvas, 0, 0);
      this.drawn = { x: x.domain(), y: y.domain() };
    }
  }

  /** Draw the last picture, moved and scaled, because drawing all boxes takes longer than a frame. */
  private drawSnapshot(context: CanvasRenderingContext2D, map: Area, x: Scale, y: Scale): void {
    const ratio = window.devicePixelRatio;
    const [xStart = 0, xEnd = 1] = this.drawn?.x ?? [];
    const [yLow = 0, yHigh = 1] = this.drawn?.y ?? [];
    const left = map.x + x(xStart);
    const top = map.y + y(yHigh);
    const width = x(xEnd) - x(xStart);
    const height = y(yLow) - y(yHigh);
    this.clipped(context, map, () => {
      context.drawImage(
        this.snapshot,
        map.x * ratio, map.y * ratio, map.width * ratio, map.height * ratio,
        left, top, width, height,
      );
    });
  }

  private clipped(context: CanvasRenderingContext2D, area: Area, draw: () => void): void {
    context.save();
    context.beginPath();
    context.rect(area.x, area.y, area.width, area.height);
    context.clip();
    draw();
    context.restore();
  }

  private drawAxes(x: Scale, y: Scale): void {
    const { curve, map } = this.areas();
    const [low = 0, high = 1] = y.domain();
    const bytes = axisLeft<number>(y)
      .tickValues(byteTicks(low, high, map.height / 44))
      .tickFormat(formatBytes)
      .tickSizeOuter(0);
    this.svg.select<SVGGElement>(".bytes").attr("transform", `translate(${map.x},${map.y})`).call(bytes);
    const steps = axisBottom<number>(x)
      .ticks(Math.max(2, map.width / 110))
      .tickFormat((step) => (Number.isInteger(step) ? formatCount(step) : ""))
      .tickSizeOuter(0);
    this.svg
      .select<SVGGElement>(".steps")
      .attr("transform", `translate(${map.x},${map.y + map.height})`)
      .call(steps);
    const most = (this.space?.curve?.peakBytes ?? 0) * 1.12;
    const curveScale = scaleLinear([0, most], [curve.height, 0]);
    const curveBytes = axisLeft<number>(curveScale)
      .tickValues(most > 0 ? byteTicks(0, most, 4) : [])
      .tickFormat(formatBytes)
      .tickSizeOuter(0);
    this.svg
      .select<SVGGElement>(".curve-bytes")
      .attr("transform", `translate(${curve.x},${curve.y})`)
      .call(curveBytes);
  }

  /** Draw what follows the pointer, on a canvas of its own. */
  private drawOverlay(): void {
    const context = this.overlay.getContext("2d");
    if (context === null || this.space === undefined) {
      return;
    }
    const ratio = window.devicePixelRatio;
    const { curve, map } = this.areas();
    const [x, y] = [this.x(), this.y()];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.clipped(context, { ...map, y: 0, height: map.y + map.height }, () => {
      const line = (step: number, dash: number[], color: string): void => {
        context.strokeStyle = color;
        context.setLineDash(dash);
        context.lineWidth = 1;
        context.beginPath();
        const left = Math.round(map.x + x(step + 0.5)) + 0.5;
        context.moveTo(left, curve.y);
        context.lineTo(left, map.y + map.height);
        context.stroke();
        context.setLineDash([]);
      };
      if (this.pinned !== undefined) {
        line(this.pinned, [], this.theme.accent);
      }
      if (this.hovered !== undefined) {
        line(this.hovered.step, [3, 3], this.theme.muted);
        this.drawCurvePoint(context, curve, x, this.hovered.step);
      }
      for (const [box, width] of [[this.hovered?.box, 1.5], [this.selected, 3]] as const) {
        if (box !== undefined && box.start >= 0) {
          const top = map.y + y(box.low + box.size);
          context.strokeStyle = this.theme.foreground;
          context.lineWidth = width;
          const height = Math.max(2, y(box.low) - y(box.low + box.size));
          context.strokeRect(map.x + x(box.start), top, Math.max(2, x(box.end + 1) - x(box.start)), height);
        }
      }
    });
  }

  private drawCurvePoint(context: CanvasRenderingContext2D, area: Area, x: Scale, step: number): void {
    const curve = this.space?.curve;
    if (curve === undefined) {
      return;
    }
    const top = area.y + area.height * (1 - bytesAt(curve, step) / Math.max(1, curve.peakBytes * 1.12));
    context.fillStyle = this.theme.accent;
    context.beginPath();
    context.arc(area.x + x(step + 0.5), top, 3.5, 0, 2 * Math.PI);
    context.fill();
  }
}

function areaOf(box: Box): number {
  return box.size * (box.end - box.start + 1);
}

function indexOf(boxes: readonly Box[]): Flatbush | undefined {
  if (boxes.length === 0) {
    return undefined;
  }
  const index = new Flatbush(boxes.length);
  for (const { start, end, low, size } of boxes) {
    index.add(start, low, end + 1, low + size);
  }
  index.finish();
  return index;
}
