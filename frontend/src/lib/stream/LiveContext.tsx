import { useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useMemo, useSyncExternalStore, type ReactNode } from "react";
import { api, unwrap } from "../api/client";
import { EventStream } from "./eventStream";
import { WallStore, type WallState } from "./wallStore";
import type { Connection } from "./connection";

interface Live {
  store: WallStore;
  stream: EventStream;
}

const Context = createContext<Live | null>(null);

/** Query keys that a changed noun makes old. */
const TOUCHED = { incident: ["incidents"], remedy: ["remedies"], agent: ["agents"] } as const;

/** Owns the stream and the fleet while someone is signed in. Every (re)connection fetches the whole wall again. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const live = useMemo<Live>(() => {
    const store = new WallStore();
    const refetch = () => client.invalidateQueries({ queryKey: ["wall"] });
    const stream = new EventStream({
      url: "/api/v1/stream",
      onOpen: () => void refetch(),
      onMessage: (message) => {
        if (message.kind === "rnic_state") store.merge(message.columns, message.asOf ?? Date.now());
        else if (message.kind === "resync") void client.invalidateQueries();
        else if (message.kind === "changed") void client.invalidateQueries({ queryKey: TOUCHED[message.noun] });
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

export function useWallState(): WallState {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, store.getState);
}

/** Loads the whole fleet into the store; the answer itself is not kept twice. */
export function useWallLoader() {
  const { store } = useLive();
  return useMemo(
    () => async () => {
      store.beginLoad();
      const wall = await unwrap(api.GET("/api/v1/wall"));
      store.replace(wall.columns, Date.parse(wall.as_of));
      return { asOf: wall.as_of, count: wall.columns.host.length };
    },
    [store],
  );
}
