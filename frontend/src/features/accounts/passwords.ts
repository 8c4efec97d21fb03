/** In characters; the server refuses shorter ones. */
export const SHORTEST_PASSWORD = 12;
