import type { SloRule, VfMatcher } from "@/lib/api/types";
import { type MatchedLabel, matchersText } from "@/shared/matchers/matchers";

/** What a rule can ask of a VF; a new condition is about the first: the tenant, which is the pod's namespace. */
export const VF_LABELS: readonly MatchedLabel<VfMatcher["name"]>[] = [
  { value: "namespace", label: "tenant", example: "payments" },
  { value: "pod", label: "pod", example: "trainer-.*" },
  { value: "host", label: "host", example: "host03" },
  { value: "pci", label: "PCI address", example: "0000:3b:00.0" },
  { value: "vf", label: "VF number", example: "3" },
  { value: "model", label: "model", example: "CX-6" },
  { value: "rack", label: "rack", example: "r2" },
];

/** `tenant is payments, model is CX-6`, or every VF. */
export function conditionsText({ matchers }: Pick<SloRule, "matchers">): string {
  return matchers.length === 0 ? "every VF" : matchersText(matchers, VF_LABELS);
}
