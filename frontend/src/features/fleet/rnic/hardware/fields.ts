import type { FieldInfo } from "@/lib/api/types";

/** A field that can be drawn: of the RNIC itself, of its offload state, or of its host's datapath. */
export interface FieldChoice extends FieldInfo {
  /** `measurement.name`, as the API takes it. */
  id: string;
}

/** The measurements whose series an RNIC has, in the order of the picker. */
export const MEASUREMENTS: readonly { measurement: string; label: string }[] = [
  { measurement: "rnic", label: "RNIC counters" },
  { measurement: "rnic_offload", label: "Offload state" },
  { measurement: "ovs_datapath", label: "Open vSwitch datapath of the host" },
];

/** What an RNIC drops, resends or waits for: where to look first. Fields that the catalogue does not know are left out. */
export const FIRST_FIELDS: readonly string[] = [
  "rnic.out_of_buffer",
  "rnic.out_of_sequence",
  "rnic.port_xmit_discards",
  "rnic.port_xmit_wait",
  "rnic.packet_seq_err",
  "rnic.local_ack_timeout_err",
];

export function choicesOf(fields: readonly FieldInfo[]): FieldChoice[] {
  const known = new Set(MEASUREMENTS.map(({ measurement }) => measurement));
  return fields
    .filter(({ measurement, kind }) => known.has(measurement) && kind !== "text")
    .map((field) => ({ ...field, id: `${field.measurement}.${field.name}` }));
}

/** Every word must occur in the label, the name or the meaning. */
export function search(choices: readonly FieldChoice[], text: string): FieldChoice[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter(({ label, name, meaning }) => {
    const all = `${label} ${name} ${meaning}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
