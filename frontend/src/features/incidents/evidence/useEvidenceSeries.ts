import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, unwrap } from "@/lib/api/client";
import type { Evidence, IncidentFinding } from "@/lib/api/types";
import { drawable, spanOf } from "./chartModels";

export type FindingPlace = Pick<IncidentFinding, "host" | "pci" | "symptom" | "started_at">;

/** The signals of a finding from before its onset; the page asks again by itself while the symptom lasts, as each new message moves the interval. */
export function useEvidenceSeries(finding: FindingPlace | undefined, evidence: readonly Evidence[]) {
  const started = finding?.started_at;
  const drawn = useMemo(() => drawable(evidence), [evidence]);
  const span = useMemo(() => (started === undefined ? null : spanOf(drawn, started, Date.now())), [drawn, started]);
  const { host = "", pci = "", symptom = "" } = finding ?? {};
  const signals = useQuery({
    queryKey: ["rnics", host, pci, "signals", symptom, span],
    enabled: span !== null && pci !== "",
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/rnics/{host}/{pci}/signals", { params: { path: { host, pci }, query: { symptom, ...span } } }),
      ),
    placeholderData: keepPreviousData,
  });
  return { drawn, span, signals };
}

/** What changed on the RNIC and its host in that time: marks on the charts. */
export function useChangesOf(
  { host, pci }: Pick<FindingPlace, "host" | "pci">,
  span: { from: string; to: string } | null,
) {
  return useQuery({
    queryKey: ["rnics", host, pci, "changes", span],
    enabled: span !== null && pci !== "",
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/rnics/{host}/{pci}/changes", {
          params: { path: { host, pci }, query: { from: span?.from ?? "", to: span?.to ?? "" } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
}
