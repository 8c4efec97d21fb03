import { INITIAL_CONNECTION, reconnectDelay, reduceConnection, SILENCE_MS, type Connection, type ConnectionEvent } from "./connection";
import { parseMessage, STREAM_EVENTS, type StreamMessage } from "./messages";

export interface EventStreamOptions {
  url: string;
  onMessage: (message: StreamMessage) => void;
  /** After each (re)connection: what was missed meanwhile must be fetched. */
  onOpen: () => void;
  /** Tests give their own. */
  open?: (url: string) => EventSource;
}

/**
 * Server-sent events with our own reconnection: the browser's retries at a fixed pace, tells no one, and never notices a
 * connection that is open but silent.
 */
export class EventStream {
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private watchdog: ReturnType<typeof setTimeout> | undefined;
  private state: Connection = INITIAL_CONNECTION;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly options: EventStreamOptions) {}

  readonly getState = (): Connection => this.state;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  start(): void {
    this.close();
    const open = this.options.open ?? ((url) => new EventSource(url, { withCredentials: true }));
    const source = open(this.options.url);
    this.source = source;
    source.onopen = () => {
      this.dispatch({ kind: "opened", at: Date.now() });
      this.watch();
      this.options.onOpen();
    };
    source.onerror = () => this.lost();
    for (const name of STREAM_EVENTS) {
      source.addEventListener(name, (event: MessageEvent<string>) => {
        this.dispatch({ kind: "message", at: Date.now() });
        this.watch();
        const message = parseMessage(name, event.data);
        if (message) this.options.onMessage(message);
      });
    }
    this.watch();
  }

  stop(): void {
    this.close();
    this.dispatch({ kind: "signed_out" });
  }

  private lost(): void {
    this.close();
    this.dispatch({ kind: "lost" });
    this.timer = setTimeout(() => this.start(), reconnectDelay(this.state.attempts, Math.random()));
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
