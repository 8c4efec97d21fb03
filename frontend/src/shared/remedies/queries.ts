import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { NewRemedy, Remedy, RemedyState } from "@/lib/api/types";
import { usePages } from "@/lib/api/usePages";
import { useStates } from "@/lib/api/useStates";
import { isOver } from "@/lib/states";

const EVERY_MS = 10_000;
const UNDER_WAY_EVERY_MS = 1_000;
const PAGE = 50;

export function useActions() {
  return useQuery({
    queryKey: ["remedy-actions"],
    queryFn: () => unwrap(api.GET("/api/v1/remedy-actions")),
    staleTime: Infinity,
  });
}

/** The newest remedies of one incident, or of one host. */
export function useRemediesOf(where: { incident_id: string } | { host: string }) {
  return useQuery({
    queryKey: ["remedies", "of", where],
    queryFn: () => unwrap(api.GET("/api/v1/remedies", { params: { query: { ...where, limit: PAGE } } })),
    refetchInterval: EVERY_MS,
  });
}

/** All remedies, or those in one state or on one host, newest first. */
export function useRemedyPages({ state, host }: { state?: RemedyState; host?: string }) {
  const where = { host, ...(state ? { state: [state] } : {}) };
  return usePages(
    ["remedies", "of", "all", state ?? "any", host ?? "any"],
    (cursor) => unwrap(api.GET("/api/v1/remedies", { params: { query: { ...where, limit: PAGE, cursor } } })),
    EVERY_MS,
  );
}

/** One remedy, fetched each second while the host works on it (the stream reports sooner when it can). */
export function useRemedy(id: string | null) {
  const states = useStates("remedy");
  const commands = useStates("command");
  const isUnderWay = ({ state, undo_state }: Remedy) =>
    !isOver(states, state) || (undo_state !== null && !isOver(commands, undo_state));
  return useQuery({
    queryKey: ["remedies", "one", id],
    enabled: id !== null,
    queryFn: () => unwrap(api.GET("/api/v1/remedies/{remedy_id}", { params: { path: { remedy_id: id ?? "" } } })),
    refetchInterval: (query) => (query.state.data && !isUnderWay(query.state.data) ? EVERY_MS : UNDER_WAY_EVERY_MS),
  });
}

/** The samples of its effect; while it is verified, each look of the backend adds some. */
export function useRemedyEffect({ id, effect }: Remedy) {
  return useQuery({
    queryKey: ["remedies", "effect", id, effect?.measured_at],
    enabled: effect !== null,
    queryFn: () => unwrap(api.GET("/api/v1/remedies/{remedy_id}/effect", { params: { path: { remedy_id: id } } })),
    placeholderData: keepPreviousData,
  });
}

/** The key identifies a retried request as the same one, so that a lost answer never applies a remedy twice. */
export function useCreateRemedy() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ order, key }: { order: NewRemedy; key: string }) =>
      unwrap(api.POST("/api/v1/remedies", { body: order, params: { header: { "Idempotency-Key": key } } })),
    onSuccess: (remedy) => {
      client.setQueryData(["remedies", "one", remedy.id], remedy);
      void client.invalidateQueries({ queryKey: ["remedies", "of"] });
    },
  });
}

/** A second person approves or rejects a requested remedy. */
export function useDecideRemedy() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, reject, comment }: { id: string; reject?: string; comment?: string }) => {
      const path = { path: { remedy_id: id } };
      return unwrap(
        reject === undefined
          ? api.POST("/api/v1/remedies/{remedy_id}/approve", { params: path, body: { comment: comment ?? null } })
          : api.POST("/api/v1/remedies/{remedy_id}/reject", { params: path, body: { reason: reject } }),
      );
    },
    onSuccess: (remedy) => {
      client.setQueryData(["remedies", "one", remedy.id], remedy);
      void client.invalidateQueries({ queryKey: ["remedies"] });
    },
  });
}

export function useUndoRemedy() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      unwrap(api.POST("/api/v1/remedies/{remedy_id}/undo", { params: { path: { remedy_id: id } } })),
    onSuccess: (remedy) => {
      client.setQueryData(["remedies", "one", remedy.id], remedy);
      void client.invalidateQueries({ queryKey: ["remedies"] });
    },
  });
}
