import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { FunctionTerms, NewNfModel, NfRollBack, PlacementRequest, PredictionRequest } from "@/lib/api/types";

const CARDS_EVERY_MS = 10_000;
const MODELS_EVERY_MS = 30_000;
const COURSE_EVERY_MS = 60_000;
const KEY = "nf";

export function useNfModels() {
  return useQuery({
    queryKey: [KEY, "models"],
    queryFn: () => unwrap(api.GET("/api/v1/nf-models")),
    select: ({ items }) => items,
    refetchInterval: MODELS_EVERY_MS,
  });
}

export function useNfCards() {
  return useQuery({
    queryKey: [KEY, "cards"],
    queryFn: () => unwrap(api.GET("/api/v1/nf-cards")),
    select: ({ items }) => items,
    refetchInterval: CARDS_EVERY_MS,
  });
}

/** What the functions of a card get; null asks nothing. The earlier answer stays until the next has come. */
export function usePrediction(request: PredictionRequest | null) {
  return useQuery({
    queryKey: [KEY, "prediction", request],
    queryFn: () => unwrap(api.POST("/api/v1/nf-predictions", { body: request as PredictionRequest })),
    enabled: request !== null,
    placeholderData: keepPreviousData,
  });
}

/** What the functions of a measured card lost and will lose. */
export function useCourse(host: string, pci: string) {
  return useQuery({
    queryKey: [KEY, "course", host, pci],
    queryFn: () => unwrap(api.GET("/api/v1/nf-cards/{host}/{pci}/course", { params: { path: { host, pci } } })),
    refetchInterval: COURSE_EVERY_MS,
  });
}

export function usePlacement() {
  return useMutation({
    mutationFn: (body: PlacementRequest) => unwrap(api.POST("/api/v1/placements", { body })),
  });
}

function useModelChange<Input, Output>(mutationFn: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: [KEY] }) });
}

export const useTrain = () => useModelChange((body: NewNfModel) => unwrap(api.POST("/api/v1/nf-models", { body })));

export const usePromote = () =>
  useModelChange(({ id, reason }: { id: string; reason: string }) =>
    unwrap(api.POST("/api/v1/nf-models/{id}/promote", { params: { path: { id } }, body: { reason } })),
  );

export const useRollBack = () =>
  useModelChange((body: NfRollBack) => unwrap(api.POST("/api/v1/nf-models/rollback", { body })));

export const useSetTerms = () =>
  useModelChange(({ name, terms }: { name: string; terms: FunctionTerms }) =>
    unwrap(api.PUT("/api/v1/nf-functions/{function}", { params: { path: { function: name } }, body: terms })),
  );
