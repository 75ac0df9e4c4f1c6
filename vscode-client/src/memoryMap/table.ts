/** A table of buffers that can be sorted by each column. */

import { button, element } from "./dom";
import { countNoun } from "./format";

const ROWS_PER_PAGE = 100;

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** What to sort by; numbers are sorted in descending order first. */
  readonly key: (row: Row) => number | string;
  readonly isNumber?: boolean;
  /** The tooltip; by default the text, which can be cut. */
  readonly tooltip?: (row: Row) => string;
}

export class SortedTable<Row> {
  readonly element: HTMLElement;
  private readonly body = element("tbody");
  private readonly more = button("", { class: "more" }, () => {
    this.shown += ROWS_PER_PAGE;
    this.render();
  });
  private rows: readonly Row[] = [];
  private column: Column<Row> | undefined;
  private isDescending = true;
  private shown = ROWS_PER_PAGE;
  private readonly head = element("tr");
  private heads: HTMLTableCellElement[] = [];
  private columns: readonly Column<Row>[] = [];

  constructor(
    title: string,
    private readonly open: (row: Row) => void,
  ) {
    const table = element("table", { "aria-label": title }, element("thead", {}, this.head), this.body);
    this.element = element("div", { class: "table", tabindex: "0", role: "region", "aria-label": title }, table, this.more);
  }

  /** Set the columns; the rows are in their order until the user sorts them. */
  setColumns(columns: readonly Column<Row>[]): void {
    this.columns = columns;
    this.column = undefined;
    this.heads = columns.map((column) => {
      const head = element("th", { scope: "col", ...(column.isNumber === true ? { class: "number" } : {}) });
      head.append(
        button(column.title, {}, () => {
          this.sortBy(column);
        }),
      );
      return head;
    });
    this.head.replaceChildren(...this.heads);
  }

  show(rows: readonly Row[]): void {
    this.rows = rows;
    this.shown = ROWS_PER_PAGE;
    this.render();
  }

  private sortBy(column: Column<Row>): void {
    this.isDescending = this.column === column ? !this.isDescending : column.isNumber === true;
    this.column = column;
    this.render();
  }

  private sorted(): readonly Row[] {
    const { column } = this;
    if (column === undefined) {
      return this.rows;
    }
    const sign = this.isDescending ? -1 : 1;
    return [...this.rows].sort((one, other) => {
      const [left, right] = [column.key(one), column.key(other)];
      return sign * (left < right ? -1 : left > right ? 1 : 0);
    });
  }

  private render(): void {
    const rows = this.sorted();
    this.heads.forEach((head, index) => {
      const isSorted = this.columns[index] === this.column;
      head.setAttribute("aria-sort", isSorted ? (this.isDescending ? "descending" : "ascending") : "none");
    });
    this.body.replaceChildren(...rows.slice(0, this.shown).map((row) => this.row(row)));
    const left = rows.length - this.shown;
    this.more.hidden = left <= 0;
    this.more.textContent = `Show more: ${countNoun(Math.max(0, left), "row")} left`;
  }

  private row(row: Row): HTMLTableRowElement {
    const cells = this.columns.map((column, index) => {
      const text = column.text(row);
      const attributes = { title: column.tooltip?.(row) ?? text, ...(column.isNumber === true ? { class: "number" } : {}) };
      if (index > 0) {
        return element("td", attributes, text);
      }
      const name = button(text, { class: "link" }, () => {
        this.open(row);
      });
      return element("td", attributes, name);
    });
    return element("tr", {}, ...cells);
  }
}
