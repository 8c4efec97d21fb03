import { emptyColumns, indexOf, mergeRows, type Columns } from "./columns";

export interface WallState {
  columns: Columns;
  index: ReadonlyMap<string, number>;
  /** Time of the data, milliseconds since the epoch; null before the first load. */
  asOf: number | null;
  /** Grows with each change of any value. */
  version: number;
  /** Grows when RNICs came, went or moved. */
  shape: number;
}

type Listener = () => void;

/**
 * The fleet outside React: at 40,000 RNICs a delta must cost what changed, not a copy of everything. Readers get the
 * same columns with a new version; the listeners are called at most once a frame.
 */
export class WallStore {
  private index = new Map<string, number>();
  private state: WallState = { columns: emptyColumns(), index: this.index, asOf: null, version: 0, shape: 0 };
  private readonly listeners = new Set<Listener>();
  private scheduled = false;
  /** Deltas that came while a load is under way: its answer may be older than they are. */
  private during: Columns[] | null = null;

  constructor(private readonly schedule: (run: () => void) => void = (run) => requestAnimationFrame(run)) {}

  readonly getState = (): WallState => this.state;

  readonly subscribe = (listener: Listener): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  beginLoad(): void {
    this.during ??= [];
  }

  replace(columns: Columns, asOf: number): void {
    this.index = indexOf(columns);
    for (const rows of this.during ?? []) mergeRows(columns, this.index, rows);
    this.during = null;
    this.publish({ columns, index: this.index, asOf, version: this.state.version + 1, shape: this.state.shape + 1 });
  }

  merge(rows: Columns, asOf: number): void {
    this.during?.push(rows);
    if (this.state.asOf === null) return;
    const { changed, reshaped } = mergeRows(this.state.columns, this.index, rows);
    if (changed === 0) return;
    this.publish({
      ...this.state,
      asOf: Math.max(asOf, this.state.asOf),
      version: this.state.version + 1,
      shape: this.state.shape + (reshaped ? 1 : 0),
    });
  }

  clear(): void {
    this.index = new Map();
    this.publish({ columns: emptyColumns(), index: this.index, asOf: null, version: this.state.version + 1, shape: this.state.shape + 1 });
  }

  private publish(state: WallState): void {
    this.state = state;
    if (this.scheduled) return;
    this.scheduled = true;
    this.schedule(() => {
      this.scheduled = false;
      for (const listener of this.listeners) listener();
    });
  }
}
