/** When a server that died is started again. */
export class Backoff {
  private deaths: number[] = [];

  /**
   * @param now milliseconds of some clock
   * @param first milliseconds before the first new start; each further one waits twice as long
   * @param most deaths within `span` milliseconds after which it is given up
   */
  constructor(
    private readonly now: () => number,
    private readonly first = 500,
    private readonly most = 5,
    private readonly span = 180_000,
  ) {}

  /** Note a death: how many milliseconds to wait for the next start, undefined for none. */
  died(): number | undefined {
    const now = this.now();
    this.deaths = [...this.deaths.filter((death) => now - death < this.span), now];
    return this.deaths.length > this.most ? undefined : this.first * 2 ** (this.deaths.length - 1);
  }

  /** Begin anew: the user wants it started. */
  forgive(): void {
    this.deaths = [];
  }
}
