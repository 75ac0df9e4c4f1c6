/** The horizontal axis of a map: its steps with equal widths, or with the time that each of them takes. */

export interface StepAxis {
  /** The position after the last step. */
  readonly length: number;
  /** Return the position of a step; a fraction is a part of its width. */
  at(step: number): number;
  /** Return the step at a position. */
  stepAt(position: number): number;
}

export class EqualSteps implements StepAxis {
  constructor(readonly length: number) {}

  at(step: number): number {
    return step;
  }

  stepAt(position: number): number {
    return Math.floor(position);
  }
}

/** The time of the steps in one run in picoseconds, all iterations of a loop together. */
export interface TimeData {
  /** What kind of time it is, such as `least time on TPU v5e`. */
  readonly title: string;
  /** The time of each step, -1 if it is unknown. */
  readonly picoseconds: readonly number[];
  /** What the sum leaves out. */
  readonly notes: readonly string[];
}

/** Steps as wide as their time; those of unknown time have no width. */
export class TimedSteps implements StepAxis {
  readonly longest: number;
  private readonly starts: Float64Array;

  constructor(
    readonly data: TimeData,
    count: number,
  ) {
    this.starts = new Float64Array(count + 1);
    let longest = 0;
    for (let step = 0; step < count; step += 1) {
      const time = this.timeOf(step) ?? 0;
      longest = Math.max(longest, time);
      this.starts[step + 1] = (this.starts[step] ?? 0) + time;
    }
    this.longest = longest;
  }

  get length(): number {
    return this.starts.at(-1) ?? 0;
  }

  /** Return the time of a step, undefined if it is unknown. */
  timeOf(step: number): number | undefined {
    const time = this.data.picoseconds[step] ?? 0;
    return time < 0 ? undefined : time;
  }

  at(step: number): number {
    const whole = Math.max(0, Math.min(this.starts.length - 1, Math.floor(step)));
    return (this.starts[whole] ?? 0) + (step - whole) * (this.timeOf(whole) ?? 0);
  }

  stepAt(position: number): number {
    let low = 0;
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.starts[middle] ?? 0) <= position) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }
}
