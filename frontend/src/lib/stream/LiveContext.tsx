import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import { api, unwrap } from "../api/client";
import { atMostEvery } from "../soon";
import type { Connection } from "./connection";
import { EventStream } from "./eventStream";
import { type FleetState, FleetStore } from "./fleetStore";

interface Live {
  store: FleetStore;
  stream: EventStream;
}

/** First part of the query key of the fleet. */
export const FLEET = "fleet";

const Context = createContext<Live | null>(null);

/** However many incidents change, what is shown of them is fetched again at most this often. */
const REFRESH_MS = 2_000;

/** Query keys that a changed noun makes old. */
const TOUCHED = { incident: ["incidents"], remedy: ["remedies"], agent: ["agents"] } as const;

/**
 * Owns the stream and the fleet while someone is signed in. After a lost connection the stream goes on from the last
 * change that is known here, and what is shown besides the fleet is fetched again.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const live = useMemo<Live>(() => {
    const store = new FleetStore();
    const refresh = atMostEvery<keyof typeof TOUCHED>(
      REFRESH_MS,
      (noun) => void client.invalidateQueries({ queryKey: TOUCHED[noun] }),
    );
    const stream = new EventStream({
      url: "/api/v1/stream",
      after: () => store.seq,
      onRecovered: (resumed) =>
        void client.invalidateQueries({ predicate: (query) => !resumed || query.queryKey[0] !== FLEET }),
      onMessage: (message) => {
        if (message.kind === "rnic_state") store.merge(message.columns, Date.now(), message.seq);
        else if (message.kind === "resync") {
          store.changesLost();
          void client.invalidateQueries();
        } else if (message.kind === "changed" || message.kind === "many") refresh(message.noun);
      },
    });
    return { store, stream };
  }, [client]);

  useEffect(() => {
    live.stream.start();
    return () => live.stream.stop();
  }, [live]);

  return <Context.Provider value={live}>{children}</Context.Provider>;
}

function useLive(): Live {
  const live = useContext(Context);
  if (!live) throw new Error("useLive is used outside LiveProvider; wrap the signed-in part of the app in it.");
  return live;
}

export function useConnection(): Connection {
  const { stream } = useLive();
  return useSyncExternalStore(stream.subscribe, stream.getState);
}

export function useFleetState(): FleetState {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, store.getState);
}

/** Loads the whole fleet into the store; the answer itself is not kept twice. */
export function useFleetLoader() {
  const { store, stream } = useLive();
  return useMemo(
    () =>
      async ({ signal }: { signal: AbortSignal }) => {
        const fleet = await store.load(() => unwrap(api.GET("/api/v1/fleet", { signal })));
        stream.catchUp();
        return { asOf: fleet.as_of, count: fleet.columns.host.length };
      },
    [store, stream],
  );
}
