import type { FleetAnswer } from "../api/types";
import { type Columns, emptyColumns, indexOf, mergeRows } from "./columns";

export interface FleetState {
  columns: Columns;
  index: ReadonlyMap<string, number>;
  /** Time of the data, milliseconds since the epoch; null before the first load. */
  asOf: number | null;
  /** An RNIC whose last sample is older is stale, milliseconds. */
  staleAfterMs: number;
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
export class FleetStore {
  private index = new Map<string, number>();
  private state: FleetState = {
    columns: emptyColumns(),
    index: this.index,
    asOf: null,
    staleAfterMs: Infinity,
    version: 0,
    shape: 0,
  };
  private readonly listeners = new Set<Listener>();
  private scheduled = false;
  /** Deltas that came during each load under way: its answer may be older than they are. */
  private readonly loads = new Set<Columns[]>();
  private completeUpTo: number | null = null;

  constructor(private readonly schedule: (run: () => void) => void = (run) => requestAnimationFrame(run)) {}

  readonly getState = (): FleetState => this.state;

  readonly subscribe = (listener: Listener): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Number of the change up to which nothing is missing here; null before the first load and after changes were lost. */
  get seq(): number | null {
    return this.completeUpTo;
  }

  /** Replace the fleet by what `fetch` brings. A load that fails leaves everything as it was. */
  async load(fetch: () => Promise<FleetAnswer>): Promise<FleetAnswer> {
    const during: Columns[] = [];
    this.loads.add(during);
    try {
      const fleet = await fetch();
      this.replace(fleet, during);
      return fleet;
    } finally {
      this.loads.delete(during);
    }
  }

  merge(rows: Columns, asOf: number, seq: number | null): void {
    for (const during of this.loads) during.push(rows);
    if (this.state.asOf === null) return;
    if (seq !== null && this.completeUpTo !== null) this.completeUpTo = Math.max(this.completeUpTo, seq);
    const { changed, reshaped } = mergeRows(this.state.columns, this.index, rows);
    if (changed === 0) return;
    this.publish({
      ...this.state,
      asOf: Math.max(asOf, this.state.asOf),
      version: this.state.version + 1,
      shape: this.state.shape + (reshaped ? 1 : 0),
    });
  }

  /** The server could not send all changes: only a load makes the fleet complete again. */
  changesLost(): void {
    this.completeUpTo = null;
  }

  private replace({ columns, as_of, seq, stale_after_s }: FleetAnswer, during: readonly Columns[]): void {
    this.index = indexOf(columns);
    for (const rows of during) mergeRows(columns, this.index, rows);
    this.completeUpTo = seq;
    this.publish({
      columns,
      index: this.index,
      asOf: Date.parse(as_of),
      staleAfterMs: 1000 * stale_after_s,
      version: this.state.version + 1,
      shape: this.state.shape + 1,
    });
  }

  private publish(state: FleetState): void {
    this.state = state;
    if (this.scheduled) return;
    this.scheduled = true;
    this.schedule(() => {
      this.scheduled = false;
      for (const listener of this.listeners) listener();
    });
  }
}
