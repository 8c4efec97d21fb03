/** A time in milliseconds since the capture's first packet, and a PSN. */
export type Spot = readonly [ms: number, psn: number];

/** PSNs of one direction of data over time, with what happened to them. */
export interface SequenceModel {
  /** Sent packets, or one of every `stride`. */
  points: readonly Spot[];
  stride: number;
  resent: readonly { at: Spot; kind: string }[];
  losses: readonly Spot[];
  nacks: readonly Spot[];
  /** Times of congestion notifications, in milliseconds. */
  cnps: readonly number[];
}
