import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { components } from "@/lib/api/schema";

const LIST_EVERY_MS = 30_000;
const PLACES_EVERY_MS = 10_000;
/** The edge of the surface: the most masks that it was fitted to. */
export const EDGE = 100;
const NEAR_EDGE = 40;

/** How far a surface is drawn: no further than what stands on it needs, so that dots and paths stay distinguishable. */
export function edgeFor(places: readonly { q_l: number; q_r: number }[]): number {
  return places.some(({ q_l, q_r }) => q_l > NEAR_EDGE || q_r > NEAR_EDGE) ? EDGE : NEAR_EDGE;
}

type Schemas = components["schemas"];

export function useProfiles() {
  return useQuery({
    queryKey: ["profiles"],
    queryFn: () => unwrap(api.GET("/api/v1/profiles")),
    select: ({ items }) => items,
    refetchInterval: LIST_EVERY_MS,
  });
}

export function useProfile(model: string) {
  return useQuery({
    queryKey: ["profiles", model],
    queryFn: () => unwrap(api.GET("/api/v1/profiles/{model}", { params: { path: { model } } })),
    refetchInterval: LIST_EVERY_MS,
  });
}

export function useSurface(model: string, version: number, to: number) {
  return useQuery({
    queryKey: ["profiles", model, "surface", version, to],
    queryFn: () =>
      unwrap(api.GET("/api/v1/profiles/{model}/surface", { params: { path: { model }, query: { version, to } } })),
    staleTime: Infinity, // a version never changes
    placeholderData: keepPreviousData,
  });
}

export function usePlaces(model: string) {
  return useQuery({
    queryKey: ["profiles", model, "rnics"],
    queryFn: () => unwrap(api.GET("/api/v1/profiles/{model}/rnics", { params: { path: { model } } })),
    refetchInterval: PLACES_EVERY_MS,
  });
}

export function usePrediction(model: string, ql: number, qr: number) {
  return useQuery({
    queryKey: ["profiles", model, "prediction", ql, qr],
    queryFn: () =>
      unwrap(api.GET("/api/v1/profiles/{model}/prediction", { params: { path: { model }, query: { ql, qr } } })),
    placeholderData: keepPreviousData,
  });
}

export function useVersion(model: string, number: number) {
  return useQuery({
    queryKey: ["profiles", model, "version", number],
    queryFn: () =>
      unwrap(api.GET("/api/v1/profiles/{model}/versions/{number}", { params: { path: { model, number } } })),
  });
}

export function useComparison(model: string, left: number, right: number) {
  return useQuery({
    queryKey: ["profiles", model, "compare", left, right],
    queryFn: () =>
      unwrap(api.GET("/api/v1/profiles/{model}/compare", { params: { path: { model }, query: { left, right } } })),
  });
}

export function useRnicPerformance(host: string, pci: string) {
  return useQuery({
    queryKey: ["rnics", host, pci, "performance"],
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/rnics/{host}/{pci}/performance", { params: { path: { host, pci }, query: { hours: 6 } } }),
      ),
    refetchInterval: PLACES_EVERY_MS,
  });
}

function useProfileMutation<Input, Output>(mutationFn: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: ["profiles"] }) });
}

export const useCalibrate = (model: string) =>
  useProfileMutation((body: Schemas["NewCalibration"]) =>
    unwrap(api.POST("/api/v1/profiles/{model}/calibrations", { params: { path: { model } }, body })),
  );

export const useCalibrateFromFleet = (model: string) =>
  useProfileMutation((body: Schemas["FleetCalibration"]) =>
    unwrap(api.POST("/api/v1/profiles/{model}/calibrations/fleet", { params: { path: { model } }, body })),
  );

export const usePromote = (model: string) =>
  useProfileMutation(({ number, reason }: { number: number; reason: string }) =>
    unwrap(
      api.POST("/api/v1/profiles/{model}/versions/{number}/promote", {
        params: { path: { model, number } },
        body: { reason },
      }),
    ),
  );

export const useRollBack = (model: string) =>
  useProfileMutation((body: Schemas["RollBack"]) =>
    unwrap(api.POST("/api/v1/profiles/{model}/rollback", { params: { path: { model } }, body })),
  );
