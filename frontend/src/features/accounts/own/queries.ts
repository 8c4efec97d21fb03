import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";
import type { components } from "@/lib/api/schema";

type Schemas = components["schemas"];
export type Account = Schemas["Account"];
export type OwnSession = Schemas["OwnSession"];

const ACCOUNT = ["own-account"];
const SESSIONS = ["own-sessions"];

export const useAccount = () =>
  useQuery({ queryKey: ACCOUNT, queryFn: () => unwrap(api.GET("/api/v1/session/account")) });

export const useSessions = () =>
  useQuery({ queryKey: SESSIONS, queryFn: () => unwrap(api.GET("/api/v1/session/sessions")) });

/** A change of the account, after which both panels are fetched again: most of them end sessions. */
function useChange<Input, Output>(mutationFn: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => Promise.all([ACCOUNT, SESSIONS].map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
}

export const useChangePassword = () =>
  useChange((body: Schemas["PasswordChange"]) => unwrap(api.POST("/api/v1/session/password", { body })));

/** One session by its id, or with null all others. */
export const useEndSession = () =>
  useChange((id: string | null) =>
    id === null
      ? unwrap(api.DELETE("/api/v1/session/sessions"))
      : unwrap(api.DELETE("/api/v1/session/sessions/{session_id}", { params: { path: { session_id: id } } })),
  );

export const useStartSecondFactor = () =>
  useChange((body: Schemas["StartSecondFactor"]) => unwrap(api.POST("/api/v1/session/second-factor", { body })));

export const useConfirmSecondFactor = () =>
  useChange((body: Schemas["ConfirmSecondFactor"]) =>
    unwrap(api.POST("/api/v1/session/second-factor/confirm", { body })),
  );

export const useTurnOffSecondFactor = () =>
  useChange((body: Schemas["TurnOffSecondFactor"]) =>
    unwrap(api.POST("/api/v1/session/second-factor/disable", { body })),
  );
