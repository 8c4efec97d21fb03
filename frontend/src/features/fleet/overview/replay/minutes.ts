const MINUTE_MS = 60_000;
/** How far back the slider reaches. */
export const MINUTES = 60;

/** A minute as it stands in the URL: `2026-11-26T21:34Z`. */
export function minuteOf(ms: number): string {
  return `${new Date(Math.floor(ms / MINUTE_MS) * MINUTE_MS).toISOString().slice(0, 16)}Z`;
}

/** How many minutes before the current one a minute is; 1 for the newest that is complete. */
export function minutesAgo(minute: string, now: number): number {
  return Math.floor(now / MINUTE_MS) - Math.round(Date.parse(minute) / MINUTE_MS);
}

export function minuteAgo(minutes: number, now: number): string {
  return minuteOf(now - minutes * MINUTE_MS);
}

/** The last moment of a minute. */
export function endOf(minute: string): number {
  return Date.parse(minute) + MINUTE_MS - 1;
}
