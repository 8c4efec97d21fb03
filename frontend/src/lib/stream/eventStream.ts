import {
  type Connection,
  type ConnectionEvent,
  INITIAL_CONNECTION,
  reconnectDelay,
  reduceConnection,
  SILENCE_MS,
} from "./connection";
import { parseMessage, STREAM_EVENTS, type StreamMessage } from "./messages";

export interface EventStreamOptions {
  url: string;
  /** Change after which the server starts, sent at each (re)connection; null where it is unknown. */
  after: () => number | null;
  onMessage: (message: StreamMessage) => void;
  /** Open again after a loss. Changed RNICs come by themselves when `resumed`; everything else must be fetched. */
  onRecovered: (resumed: boolean) => void;
  /** Tests give their own. */
  open?: (url: string) => EventSource;
}

/**
 * Server-sent events with our own reconnection: the browser's retries at a fixed pace, reports nothing, and never notices a
 * connection that is open but silent.
 */
export class EventStream {
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private watchdog: ReturnType<typeof setTimeout> | undefined;
  private state: Connection = INITIAL_CONNECTION;
  private running = false;
  /** Whether this connection began at a known change. */
  private fromKnown = false;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly options: EventStreamOptions) {}

  readonly getState = (): Connection => this.state;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  start(): void {
    this.running = true;
    this.connect();
  }

  /** Reconnect when this connection began before anything was known, so that nothing is missing between the two. */
  catchUp(): void {
    if (this.running && !this.fromKnown) this.connect();
  }

  stop(): void {
    this.running = false;
    this.close();
    this.dispatch({ kind: "signed_out" });
  }

  private connect(): void {
    this.close();
    const open = this.options.open ?? ((url) => new EventSource(url, { withCredentials: true }));
    const after = this.options.after();
    const source = open(after === null ? this.options.url : `${this.options.url}?after=${after}`);
    this.source = source;
    this.fromKnown = after !== null;
    source.onopen = () => {
      const recovered = this.state.attempts > 0;
      this.dispatch({ kind: "opened", at: Date.now() });
      this.watch();
      if (recovered) this.options.onRecovered(this.fromKnown);
    };
    source.onerror = () => this.lost();
    for (const name of STREAM_EVENTS) {
      source.addEventListener(name, (event: MessageEvent<string>) => {
        this.dispatch({ kind: "message", at: Date.now() });
        this.watch();
        const message = parseMessage(name, event.data, event.lastEventId);
        if (message) this.options.onMessage(message);
      });
    }
    this.watch();
  }

  private lost(): void {
    this.close();
    this.dispatch({ kind: "lost" });
    this.timer = setTimeout(() => this.connect(), reconnectDelay(this.state.attempts, Math.random()));
  }

  private watch(): void {
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => this.lost(), SILENCE_MS);
  }

  private close(): void {
    clearTimeout(this.timer);
    clearTimeout(this.watchdog);
    this.source?.close();
    this.source = null;
  }

  private dispatch(event: ConnectionEvent): void {
    const next = reduceConnection(this.state, event);
    const changed = next.status !== this.state.status || next.attempts !== this.state.attempts;
    this.state = next;
    if (changed) for (const listener of this.listeners) listener();
  }
}
