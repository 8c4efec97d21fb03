export type Zone = "local" | "utc";

function parts(zone: Zone, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-GB", { ...options, hour12: false, timeZone: zone === "utc" ? "UTC" : undefined });
}

const clock: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const day: Intl.DateTimeFormatOptions = { year: "numeric", month: "2-digit", day: "2-digit" };

/** `2026-11-21 03:40:12 UTC`; the zone is named only when it is not the reader's own. */
export function formatTime(at: string | number | Date | null | undefined, zone: Zone): string {
  if (at === null || at === undefined) return "–";
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "–";
  const [d, m, y] = parts(zone, day).format(date).split("/");
  return `${y ?? ""}-${m ?? ""}-${d ?? ""} ${parts(zone, clock).format(date)}${zone === "utc" ? " UTC" : ""}`;
}

export function formatClock(at: string | number | Date, zone: Zone): string {
  return `${parts(zone, clock).format(new Date(at))}${zone === "utc" ? " UTC" : ""}`;
}

/** A duration in the two largest units that matter: `3 min 20 s`. Input in milliseconds. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 && minutes < 10 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} days`;
}

export function formatAgo(at: string | number | Date | null | undefined, now: number): string {
  if (at === null || at === undefined) return "never";
  const age = now - new Date(at).getTime();
  return age < 2_000 ? "now" : `${formatDuration(age)} ago`;
}
