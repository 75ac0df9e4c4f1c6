/** A map on the page with its caption: of the only compile, or of one compile of a comparison. */

import type { Groups } from "./colors";
import { element } from "./dom";
import { FixedBand } from "./fixedBand";
import { folderOf } from "./entries";
import { countNoun, formatBytes, formatCount } from "./format";
import { liveSet, type LiveBuffer } from "./liveSet";
import { MapView, type MapEvents } from "./mapView";
import { bytesAt, type Allocation, type Box, type Module, type Space } from "./model";
import type { Frame } from "./viewport";

export class Side {
  readonly caption = element("p", { class: "caption" });
  private readonly mapRoot = element("div", { class: "map" });
  private readonly band: FixedBand;
  readonly element: HTMLElement;
  readonly view: MapView;
  step = 0;

  constructor(
    private readonly frame: Frame,
    events: MapEvents,
    toggleFixed: () => void,
    readonly module: Module,
    public space: Space,
  ) {
    this.view = new MapView(this.mapRoot, frame, events);
    this.band = new FixedBand(toggleFixed);
    this.element = element("section", { class: "side" }, this.caption, this.mapRoot, this.band.element);
  }

  show(space: Space, groups: Groups, keepsZoom: boolean): void {
    this.space = space;
    this.band.show(space, this.frame.hidesFixed(space));
    this.view.show(this.module, space, groups, keepsZoom);
  }

  pin(step: number): void {
    this.step = step;
    this.view.pin(this.space.curve === undefined ? undefined : step);
    const { isBefore, data } = this.module;
    const title = isBefore === undefined ? "Compile" : isBefore ? "Before" : "After";
    const steps = `${countNoun(this.module.lastStep, "step")}, ${countNoun(this.module.boxes.length, "buffer")}`;
    const instruction = this.instruction === undefined ? "" : ` · ${this.instruction}`;
    const here = this.space.curve === undefined ? "" : ` · ${formatBytes(this.bytes)} at step ${formatCount(step)}${instruction}`;
    this.caption.replaceChildren(element("strong", {}, title), ` ${folderOf(data.path)}${here} · ${steps}`);
    this.caption.title = data.path;
  }

  /** The instruction at the chosen step. */
  get instruction(): string | undefined {
    return this.module.describeStep(this.step);
  }

  /** The occupied bytes at the chosen step, or the allocated bytes without live ranges. */
  get bytes(): number {
    return this.space.curve === undefined ? this.space.allocatedBytes : bytesAt(this.space.curve, this.step);
  }

  get buffers(): LiveBuffer[] {
    return liveSet(this.space, this.space.curve === undefined ? -1 : this.step);
  }

  get isAtPeak(): boolean {
    return this.space.curve?.peakStep === this.step;
  }

  /** Return the box of this module for a box of either module. */
  boxOf(box: Box | undefined): Box | undefined {
    return box?.module === this.module ? box : box?.match;
  }

  /** Return whether a part of the memory space is in the map: one of a fixed allocation may be left out. */
  includes({ isFixed }: Allocation): boolean {
    return !isFixed || !this.frame.hidesFixed(this.space);
  }

  /** Outline a box of either module, unless it is in another memory space. */
  select(box: Box | undefined): void {
    this.view.select(this.shown(box));
  }

  mark(box: Box | undefined): void {
    this.view.mark(this.shown(box));
  }

  private shown(box: Box | undefined): Box | undefined {
    const mine = this.boxOf(box);
    return mine?.allocation.space === this.space.number ? mine : undefined;
  }
}
