/** The rhythm of storms in the mock: each lasts 25 of every 180 seconds. Times are in seconds since the epoch. */
export const PERIOD_S = 180;
export const STORM_S = 25;
export const iso = (seconds) => new Date(seconds * 1000).toISOString();
export const nowS = () => Math.floor(Date.now() / 1000);
export const todayS = (until) => Math.floor(until / 86_400) * 86_400;
export const parse = (text, otherwise) => (text ? Date.parse(text) / 1000 : otherwise);

/** Seconds of storms in [from, to), when a storm is at the start of each period. */
export function stormSeconds(from, to, offset) {
  let total = 0;
  for (let start = Math.floor((from - offset) / PERIOD_S) * PERIOD_S + offset; start < to; start += PERIOD_S)
    total += Math.max(0, Math.min(to, start + STORM_S) - Math.max(from, start));
  return total;
}
