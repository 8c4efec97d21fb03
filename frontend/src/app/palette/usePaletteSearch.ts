import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import { type Group, hitsOf, incidentsOf } from "./entries";

const PAUSE_MS = 120;
const EACH = 6;

/** What the server knows by a text. `settled` says that it is the answer to what stands in the field now. */
export function usePaletteSearch(text: string): { found: Group[]; settled: boolean; error: unknown } {
  const asked = text.trim();
  const [q] = useDebouncedValue(asked, PAUSE_MS);
  const { data, isFetching, error } = useQuery({
    queryKey: ["palette", q],
    enabled: q !== "",
    staleTime: 10_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const [fleet, incidents] = await Promise.all([
        unwrap(api.GET("/api/v1/search", { params: { query: { q, limit: EACH } }, signal })),
        unwrap(api.GET("/api/v1/incidents", { params: { query: { q, limit: EACH } }, signal })),
      ]);
      return [...hitsOf(fleet), ...incidentsOf(incidents.items)];
    },
  });
  return { found: asked === "" ? [] : (data ?? []), settled: q === asked && !isFetching, error };
}
