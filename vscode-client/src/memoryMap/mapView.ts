/** The map: a canvas with boxes, curve, and bands, which can be zoomed, panned, and pointed at. */

import { select } from "d3-selection";
import { zoom, type D3ZoomEvent, type ZoomBehavior } from "d3-zoom";
import { Axes } from "./axes";
import { readTheme, type Groups, type Theme } from "./colors";
import { clipped, drawBands, drawCurve, drawTimes, type Area, type Scale } from "./drawing";
import { applyKey } from "./keyboard";
import { BoxLayer } from "./layer";
import type { Box, Module, Space } from "./model";
import { drawOverlay } from "./overlay";
import { Pieces } from "./owners";
import { clampStep, targetAt, type Target } from "./picking";
import { BAND_HEIGHT, Viewport, type Frame } from "./viewport";

const FAST_DRAW_MILLISECONDS = 9; // what fits into a frame at 60 frames per second
const SETTLE_MILLISECONDS = 90;
const MAX_CLICK_PIXELS = 4; // between pressing and releasing; more is a drag

export interface MapEvents {
  /** The pointer moved; undefined if it left the map. */
  hover(target: Target | undefined, event: PointerEvent): void;
  click(target: Target): void;
  /** An arrow key with Shift moved the pinned step. */
  step(step: number): void;
}

export class MapView {
  private readonly canvas = document.createElement("canvas");
  private readonly overlay = document.createElement("canvas");
  private readonly snapshot = document.createElement("canvas");
  private readonly viewport: Viewport;
  private readonly axes: Axes;
  private readonly gesture: ZoomBehavior<HTMLCanvasElement, unknown> = zoom<HTMLCanvasElement, unknown>();
  private pointerAtStart: readonly [number, number] = [0, 0];

  private theme: Theme;
  private layer: BoxLayer | undefined;
  private pieces: { readonly space: Space; readonly found: Pieces } | undefined;
  private chosen: ReadonlySet<Box> | undefined;
  private selected: Box | undefined;
  private pinned: number | undefined;
  private hovered: Target | undefined;
  private pointer: number | undefined;
  private marked: Box | undefined;
  private frame = 0;
  private settle: ReturnType<typeof setTimeout> | undefined;
  private isMoving = false;
  private lastDrawMilliseconds = 0;
  private drawn: { x: readonly number[]; y: readonly number[] } | undefined;
  /** Number of boxes in the memory space. */
  boxCount = 0;

  constructor(
    private readonly root: HTMLElement,
    frame: Frame,
    private readonly events: MapEvents,
  ) {
    this.viewport = new Viewport(frame);
    frame.onRedraw(() => {
      this.move();
    });
    this.theme = readTheme(root);
    this.overlay.tabIndex = 0;
    this.overlay.setAttribute("role", "application");
    this.overlay.setAttribute("aria-label", "Memory map");
    this.overlay.setAttribute("aria-describedby", "memory-map-keys");
    this.overlay.className = "overlay";
    root.append(this.canvas);
    this.axes = new Axes(root);
    root.append(this.overlay);
    this.listen();
    new ResizeObserver(() => {
      this.resize();
    }).observe(root);
  }

  /** Show a memory space. */
  show(module: Module, space: Space, groups: Groups, keepsZoom: boolean): void {
    this.viewport.module = module;
    this.viewport.space = space;
    const axis = this.viewport.frame.axisOf(module);
    if (this.pieces?.space !== space || this.pieces.found.axis !== axis) {
      this.pieces = { space, found: new Pieces(space, axis) };
    }
    this.layer = new BoxLayer(this.pieces.found, groups);
    this.boxCount = this.layer.boxCount;
    if (!keepsZoom) {
      this.selected = undefined;
      this.chosen = undefined;
      this.viewport.reset();
    }
    this.request();
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

  /** Outline a box that corresponds to one on another map. */
  mark(box: Box | undefined): void {
    this.marked = box;
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
    this.viewport.reset();
    this.viewport.frame.redraw();
  }

  /** Move a box to the middle, and zoom so far that it can be seen. */
  reveal(box: Box): void {
    this.viewport.reveal(box);
    this.viewport.frame.redraw();
  }

  /** Return where a step and a byte of the memory space are in the page, for tests. */
  clientPoint(step: number, byte: number): { x: number; y: number } {
    const { map } = this.viewport.areas();
    const bounds = this.overlay.getBoundingClientRect();
    return { x: bounds.left + map.x + this.viewport.steps().pixel(step), y: bounds.top + map.y + this.viewport.y()(byte) };
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
        this.viewport.applyGesture(event, this.pointerAtStart);
        this.viewport.frame.redraw();
      });
    overlay.call(this.gesture).on("dblclick.zoom", null);
    let pressed: readonly [number, number] = [0, 0];
    this.overlay.addEventListener("pointerdown", (event) => {
      pressed = [event.clientX, event.clientY];
      this.events.hover(undefined, event); // what moves is no longer below the card
    });
    this.overlay.addEventListener("click", (event) => {
      if (Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) < MAX_CLICK_PIXELS) {
        const target = this.targetOf(event);
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
        this.pointer = event.offsetX;
        this.hovered = this.targetOf(event);
        this.overlay.style.cursor = this.hovered?.box === undefined ? "crosshair" : "pointer";
        this.events.hover(this.hovered, event);
        this.drawOverlay();
      }
    });
    this.overlay.addEventListener("pointerleave", (event) => {
      this.leave(event);
    });
    this.overlay.addEventListener("keydown", (event) => {
      if (this.pressed(event)) {
        event.preventDefault();
      }
    });
  }

  private leave(event: PointerEvent): void {
    this.pointer = undefined;
    this.hovered = undefined;
    this.events.hover(undefined, event);
    this.drawOverlay();
  }

  /** Apply a key to the map; return whether it has a meaning there. */
  pressed(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey) {
      return false;
    }
    const direction = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (event.shiftKey && direction !== 0) {
      this.events.step(clampStep(this.viewport.module, (this.pinned ?? 0) + direction));
      return true;
    }
    const { map } = this.viewport.areas();
    const isApplied = applyKey(this.viewport, event, this.pointer === undefined ? undefined : this.pointer - map.x);
    if (isApplied) {
      this.viewport.frame.redraw();
    }
    return isApplied;
  }

  private targetOf({ offsetX, offsetY }: MouseEvent): Target | undefined {
    return targetAt(this.viewport, (area) => this.layer?.ownerOf(area, this.chosen), offsetX, offsetY);
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.root;
    if (clientWidth === 0 || clientHeight === 0) {
      return; // hidden
    }
    if (clientWidth === this.viewport.width && clientHeight === this.viewport.height) {
      return;
    }
    this.theme = readTheme(this.root); // before the first size, the page is not in the document
    const ratio = window.devicePixelRatio;
    for (const canvas of [this.canvas, this.overlay, this.snapshot]) {
      canvas.width = Math.round(clientWidth * ratio);
      canvas.height = Math.round(clientHeight * ratio);
      canvas.style.width = `${clientWidth}px`;
      canvas.style.height = `${clientHeight}px`;
    }
    this.axes.resize(clientWidth, clientHeight);
    this.viewport.resize(clientWidth, clientHeight);
    this.drawn = undefined;
    this.request();
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
    const { module, space } = this.viewport;
    const { layer } = this;
    const context = this.canvas.getContext("2d");
    if (module === undefined || space === undefined || layer === undefined || context === null || this.viewport.width === 0) {
      return;
    }
    const [x, y, steps] = [this.viewport.x(), this.viewport.y(), this.viewport.steps()];
    const { curve, times, bands, map } = this.viewport.areas();
    const ratio = window.devicePixelRatio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.viewport.width, this.viewport.height);
    // The axis is longer if the compile beside this one has more steps.
    const width = Math.max(0, Math.min(map.width, steps.pixel(module.lastStep + 1)));
    if (this.isMoving && this.lastDrawMilliseconds > FAST_DRAW_MILLISECONDS && this.drawn !== undefined) {
      this.drawSnapshot(context, map, x, y);
    } else {
      this.drawMap(context, { ...map, width }, x, y, layer);
    }
    clipped(context, { ...curve, width, y: 0, height: bands.y + bands.height }, () => {
      if (space.curve !== undefined) {
        drawCurve(context, { ...curve, width }, steps, this.viewport.curveY(), this.theme, space.curve);
      }
      if (times.height > 0 && module.timedSteps !== undefined) {
        const { longestTime } = this.viewport.frame;
        drawTimes(context, { ...times, width }, steps, this.theme, module.timedSteps, longestTime);
      }
      drawBands(context, bands, steps, this.theme, module.bands, BAND_HEIGHT);
    });
    this.axes.draw(this.viewport, x, y);
    this.drawOverlay();
  }

  private drawMap(context: CanvasRenderingContext2D, map: Area, x: Scale, y: Scale, layer: BoxLayer): void {
    const started = performance.now();
    clipped(context, map, () => {
      layer.draw(context, map, x, y, this.theme, this.chosen);
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
    clipped(context, map, () => {
      context.drawImage(
        this.snapshot,
        map.x * ratio, map.y * ratio, map.width * ratio, map.height * ratio,
        left, top, width, height,
      );
    });
  }

  private drawOverlay(): void {
    const context = this.overlay.getContext("2d");
    if (context !== null && this.viewport.space !== undefined) {
      const { hovered, marked, pinned, selected } = this;
      drawOverlay(context, this.viewport, this.theme, { hovered, marked, pinned, selected });
    }
  }
}
