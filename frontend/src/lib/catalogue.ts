const WALLS: Readonly<Record<string, string>> = {
  offloaded_flows: "offloaded flows",
  egress_masks: "egress masks",
  ingress_masks: "ingress masks",
  flow_insertions: "flow insertions",
  encap_contexts: "encapsulation contexts",
};

/** A wall's name inside a sentence. An unknown one is shown by its own id, so that a newer backend stays readable. */
export function wallLabel(wall: string): string {
  return WALLS[wall] ?? wall.replaceAll("_", " ");
}
