export interface MaskBar {
  position: number;
  mask: string;
  match: string;
  flows: number | null;
  /** Packets per second matched by this mask; null when not measured. */
  packets: number | null;
  lengthBits: number | null;
}

export interface MaskModel {
  bars: readonly MaskBar[];
  /** Mean number of mask lookups per packet. */
  q: number | null;
}
