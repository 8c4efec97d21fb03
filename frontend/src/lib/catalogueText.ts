/** Short names for the eight symptoms (paper, Table 1) until the catalogue is loaded; the catalogue's own titles win. */
export const SYMPTOM_TITLES: Readonly<Record<string, string>> = {
  S1: "Flows offloaded again and again",
  S2: "Kernel stagnation",
  S3: "Kernel crash on new flows",
  S4: "Slow flow state maintenance",
  S5: "Intermittent software forwarding",
  S6: "Specific flows are slow",
  S7: "PCIe link down at VF unbind",
  S8: "RNIC unresponsive",
};
